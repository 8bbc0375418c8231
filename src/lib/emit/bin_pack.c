/*
 * bin_pack.c - compresses the streams of BINFILE directories that are closed for good.
 *
 * The thread that consumes hands a directory over and goes on.  Another thread, which blocks all
 * signals, compresses the directories one by one.  It ends when none is left.  It has a descriptor
 * table of its own, so the program cannot close its files.  It also loads the module "zstd", and
 * holds no lock of ctrace while it waits for the loader.  A fork waits until the module is loaded,
 * or the child would inherit a loader in the middle of its work.
 *
 * The thread opens a directory and locks it: no other process replaces it while it is compressed.
 * A directory that was replaced before is left alone.  When the generations come round and this
 * process needs the name, the directory is released as it is.  That also happens when the module
 * cannot be loaded, the kernel gives no separate descriptor table, the disk is full, or the
 * process ends first.  Each stream is either compressed or untouched.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"
#include "compress/compress.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define QUEUE_LIMIT 32u /* directories that wait; more stay as they are */
/* how long the thread that consumes waits for a directory: less than its producers wait for room */
#define LET_GO_NS 400000000u
#define END_NS 2000000000u  /* how long a process that ends waits for its directories */
#define STOP_NS 100000000u  /* and then for the end of what was begun */
#define LOAD_NS 1000000000u /* how long a fork waits for the loader */
#define NAMES_LIMIT 64u     /* streams of a directory that are looked for at a time */
#define NAME_SIZE sizeof "stream.65535"

/* All under the lock of emitter names, which fork takes; the words that are atomic are slept on or
 * looked at without it. */
static struct {
	struct ct_bin_directory *waiting[QUEUE_LIMIT]; /* oldest first */
	uint32_t count;
	struct ct_bin_directory *current; /* the thread's; its content is not touched by others */
	/* of a process that ends: compressed when nothing can come into it any more */
	struct ct_bin_directory *last;
	bool runs;
	/* atomic: 1 while the thread loads the module; it is set under the lock */
	uint32_t loading;
	uint32_t done; /* atomic: raised when it has let go of a directory */
	uint32_t stop; /* atomic; not 0: the thread is to let go of its directory */
} pack;

/* ---- the thread ---- */

/* Returns NULL when there is none for this version. */
static const struct ct_compress_module *open_module(void **out_handle)
{
	const struct ct_compress_module *module;

	*out_handle = ct_module_open("zstd");
	module = *out_handle != NULL ? dlsym(*out_handle, CT_COMPRESS_MODULE) : NULL;
	if (module != NULL && module->size >= sizeof *module)
		return module;
	if (*out_handle != NULL)
		(void)dlclose(*out_handle);
	return NULL;
}

/* Once in the life of a process. */
static const struct ct_compress_module *find_module(void)
{
	static const struct ct_compress_module *found;
	static bool was_tried;
	void *handle;

	if (was_tried)
		return found;
	was_tried = true;
	ct_emitter_lock();
	__atomic_store_n(&pack.loading, 1, __ATOMIC_RELAXED);
	ct_emitter_unlock();
	found = open_module(&handle);
	__atomic_store_n(&pack.loading, 0, __ATOMIC_RELEASE);
	ct_os_wake(&pack.loading);
	return found;
}

void ct_bin_pack_lock(void)
{
	uint64_t start = ct_clock_mono_ns(), waited;
	bool is_over = false;

	ct_emitter_lock();
	while (__atomic_load_n(&pack.loading, __ATOMIC_ACQUIRE) != 0 && !is_over &&
	       (waited = ct_clock_mono_ns() - start) < LOAD_NS) {
		ct_emitter_unlock();
		is_over = !ct_os_wait(&pack.loading, 1, LOAD_NS - waited);
		ct_emitter_lock();
	}
}

bool ct_bin_pack_is_possible(void)
{
	void *handle;

	if (open_module(&handle) == NULL)
		return false;
	(void)dlclose(handle);
	return true;
}

struct names {
	char at[NAMES_LIMIT][NAME_SIZE];
	uint32_t count;
};

static void note_name(struct ct_bin_directory *directory, const char *name, uint32_t id, void *user)
{
	struct names *names = user;

	(void)directory;
	(void)id;
	if (names->count < NAMES_LIMIT)
		memcpy(names->at[names->count++], name, strlen(name) + 1);
}

/* Files are renamed and removed meanwhile, so names are taken first. */
static void compress_directory(struct ct_bin_directory *directory,
			       const struct ct_compress_module *module)
{
	enum ctrace_status status = CTRACE_OK;
	struct names names = { .count = NAMES_LIMIT };

	while (status == CTRACE_OK && names.count == NAMES_LIMIT) {
		names.count = 0;
		if (ct_bin_directory_look(directory) != CT_BIN_HERE ||
		    !ct_bin_directory_each_stream(directory, note_name, &names))
			return;
		for (uint32_t i = 0; i < names.count && status == CTRACE_OK; i++)
			status = ct_bin_directory_look(directory) == CT_BIN_HERE
					 ? module->file(directory->fd, names.at[i], &pack.stop)
					 : CTRACE_OS_ERROR;
	}
}

/* Under the lock: who takes the number under it waits for a directory that comes later.  Pairs with
 * the acquire of who waits: the directory's lock is free, and its files are left alone. */
static void pack_note_done(void)
{
	(void)__atomic_fetch_add(&pack.done, 1, __ATOMIC_RELEASE);
	ct_os_wake(&pack.done);
}

/* The next directory; NULL: the thread ends. */
static struct ct_bin_directory *queue_take_next(void)
{
	struct ct_bin_directory *next = NULL;

	ct_emitter_lock();
	if (pack.count > 0) {
		next = pack.waiting[0];
		memmove(pack.waiting, pack.waiting + 1,
			--pack.count * sizeof(struct ct_bin_directory *));
	} else {
		pack.runs = false;
		pack_note_done();
	}
	pack.current = next;
	__atomic_store_n(&pack.stop, 0, __ATOMIC_RELAXED);
	ct_emitter_unlock();
	return next;
}

static void *pack_thread_run(void *unused)
{
	bool has_descriptors = ct_os_thread_own_descriptors();
	const struct ct_compress_module *module = has_descriptors ? find_module() : NULL;
	struct ct_bin_directory *directory;

	(void)unused;
	while ((directory = queue_take_next()) != NULL) {
		if (module != NULL)
			compress_directory(directory, module);
		/* Under the lock: who sees no current directory finds the lock of its directory
		 * free. */
		ct_emitter_lock();
		pack.current = NULL;
		ct_bin_directory_close(directory);
		pack_note_done();
		ct_emitter_unlock();
	}
	return NULL;
}

/* ---- handing a directory over ---- */

/* Under the lock.  Returns false when the directory stays uncompressed and with the caller. */
static bool queue_add(struct ct_bin_directory *directory)
{
	pthread_t thread;

	if (pack.count == QUEUE_LIMIT)
		return false;
	pack.waiting[pack.count++] = directory;
	if (pack.runs)
		return true;
	pack.runs =
		ct_os_thread_start(pack_thread_run, NULL, "ctrace-compress", &thread) == CTRACE_OK;
	if (pack.runs)
		(void)pthread_detach(thread);
	else
		pack.count--;
	return pack.runs;
}

void ct_bin_pack(struct ct_bin_directory *directory, bool is_last)
{
	struct ct_bin_directory *left = directory;

	/* A directory without a closing mark is not compressed. */
	if (directory->is_ended) {
		ct_bin_directory_rest(directory);
		ct_emitter_lock();
		if (is_last) {
			left = pack.last;
			pack.last = directory;
		} else if (queue_add(directory)) {
			left = NULL;
		}
		ct_emitter_unlock();
	}
	ct_bin_directory_close(left);
}

/* Removes it from those that wait, or stops the thread.  Under the lock. */
static struct ct_bin_directory *queue_take_back(const char *path, bool *out_is_current)
{
	*out_is_current = pack.current != NULL && strcmp(pack.current->path, path) == 0;
	if (*out_is_current)
		__atomic_store_n(&pack.stop, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < pack.count; i++) {
		struct ct_bin_directory *directory = pack.waiting[i];

		if (strcmp(directory->path, path) != 0)
			continue;
		memmove(pack.waiting + i, pack.waiting + i + 1,
			(--pack.count - i) * sizeof(struct ct_bin_directory *));
		return directory;
	}
	return NULL;
}

void ct_bin_pack_let_go(const char *path)
{
	struct ct_bin_directory *directory;
	bool is_current;
	uint32_t done;

	ct_emitter_lock();
	done = __atomic_load_n(&pack.done, __ATOMIC_ACQUIRE);
	directory = queue_take_back(path, &is_current);
	ct_emitter_unlock();
	ct_bin_directory_close(directory);
	/* When that takes longer, the directory is one that somebody has open: ours gets a name
	 * beside it. */
	if (is_current)
		(void)ct_os_wait_until(&pack.done, done + 1, LET_GO_NS);
}

/* ---- the end ---- */

/* False: not within that time. */
static bool pack_wait_for_end(uint64_t limit_ns)
{
	uint64_t start = ct_clock_mono_ns();
	bool is_over = false;

	for (;;) {
		uint32_t done = __atomic_load_n(&pack.done, __ATOMIC_ACQUIRE);
		uint64_t waited = ct_clock_mono_ns() - start;
		bool runs;

		ct_emitter_lock();
		runs = pack.runs;
		ct_emitter_unlock();
		if (!runs || is_over || waited >= limit_ns)
			return !runs;
		is_over = !ct_os_wait(&pack.done, done, limit_ns - waited);
	}
}

void ct_bin_pack_end(void)
{
	ct_emitter_lock();
	if (pack.last != NULL && queue_add(pack.last))
		pack.last = NULL;
	ct_emitter_unlock();
	if (pack_wait_for_end(END_NS))
		return;
	ct_emitter_lock();
	pack.count = 0;
	__atomic_store_n(&pack.stop, 1, __ATOMIC_RELEASE);
	ct_emitter_unlock();
	(void)pack_wait_for_end(STOP_NS);
}

/* The child has neither the thread nor its descriptors.  The memory of its directory is not freed.
 */
void ct_bin_pack_forked(bool is_whole)
{
	for (uint32_t i = 0; is_whole && i < pack.count; i++)
		ct_bin_directory_close(pack.waiting[i]);
	if (is_whole)
		ct_bin_directory_close(pack.last);
	memset(&pack, 0, sizeof pack);
}
