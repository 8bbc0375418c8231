#include <mfctf.h>
#include <mfctf.h>
typedef int a_declaration;
