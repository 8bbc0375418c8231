/*
 * emit_nats.c - NATS: BINFILE into the spool, from where `ctrace forward --spool` sends it.
 *
 * Runs on the thread that consumes.  BINFILE writes the traces: this emitter gives it a context
 * with a place and a rotation of its own, puts the address into each trace, and limits how much may
 * wait.  Nothing here knows the protocol of NATS (docs/decisions/027-a-spool-for-the-stream.md).
 *
 * A segment, one generation of BINFILE, has a name that no other process has ever had.  The
 * forwarder removes it when it is closed, and the servers have it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENT_MAX ((uint64_t)16 << 20)
#define SEGMENT_MIN ((uint64_t)64 << 10)
#define SEGMENTS 16u /* of a full spool */
/* Bytes of a segment besides its packets: metadata, address, blocks. */
#define SEGMENT_ROOM 24576u
#define PACKET_ROOM 256u /* bytes of a packet besides its events */
#define BLOCK 4096u
#define LOOK_NS 1000000000u /* between two measurements of the spool */
#define LOOK_SHARE 50u      /* a measurement takes one part in so many of the time */
#define FULL_TEXT 300u

struct nats {
	struct ctrace_emitter_context inner; /* BINFILE's */
	const struct ctrace_emitter_context *outer;
	void *bin;
	char spool[CTRACE_EMITTER_PATH_SIZE];
	char file[CTRACE_EMITTER_PATH_SIZE]; /* FILE of BINFILE */
	uint64_t segment;                    /* bytes */
	char segment_kb[24];                 /* MAXFILESIZE of BINFILE */
	char address[CT_SPOOL_ADDRESS_SIZE];
	char addressed[CTRACE_EMITTER_PATH_SIZE]; /* the segment that has the address */
	uint64_t limit;                           /* ctrace.spool.size */
	uint64_t room_end; /* as measured: the limit, or less when the file system is nearly full */
	uint64_t used;     /* measured, and what was written since */
	uint64_t look_at_ns;      /* monotonic: the next measurement */
	uint64_t look_soonest_ns; /* of a new segment: no measurement before */
};

/* -----------------------------------------------------------------------------------------------
 * The context of BINFILE
 */

static const struct nats *nats_of(const struct ctrace_emitter_context *inner)
{
	return (const struct nats *)inner; /* its first member */
}

static const char *inner_property(const struct ctrace_emitter_context *context, const char *name)
{
	static const struct {
		const char *name, *value;
	} preset[] = {
		{ "GROUP", NULL },  { "LOCATION", NULL },
		{ "MODE", "0600" }, { "MAXGENERATION", "2147483647" },
		{ "RUN", NULL },
	};
	const struct nats *nats = nats_of(context);

	if (strcmp(name, "FILE") == 0)
		return nats->file;
	if (strcmp(name, "MAXFILESIZE") == 0)
		return nats->segment_kb;
	for (size_t i = 0; i < CT_COUNT(preset); i++)
		if (strcmp(name, preset[i].name) == 0)
			return preset[i].value;
	return nats->outer->property(nats->outer, name);
}

static uint64_t inner_number(const struct ctrace_emitter_context *context, const char *name)
{
	const char *value = inner_property(context, name);

	return value != NULL ? ct_value_number(value, strlen(value)) : 0;
}

static enum ctrace_status inner_commit(const struct ctrace_emitter_context *context)
{
	const struct ctrace_emitter_context *outer = nats_of(context)->outer;

	return outer->commit != NULL ? outer->commit(outer) : CTRACE_OK;
}

static void inner_failed_at(const struct ctrace_emitter_context *context, const char *what)
{
	ct_emitter_failed_at(nats_of(context)->outer, what);
}

static void inner_counter(const struct ctrace_emitter_context *context, struct ctrace_counter *out)
{
	const struct ctrace_emitter_context *outer = nats_of(context)->outer;

	outer->counter(outer, out);
}

static void inner_fill(struct nats *nats)
{
	nats->inner = *nats->outer;
	nats->inner.size = sizeof nats->inner;
	nats->inner.property = inner_property;
	nats->inner.number = inner_number;
	nats->inner.commit = inner_commit;
	nats->inner.failed_at = inner_failed_at;
	nats->inner.counter = nats->outer->counter != NULL ? inner_counter : NULL;
}

/* -----------------------------------------------------------------------------------------------
 * The address
 */

/* A value in the address: & is written as %26, and % as %25. */
static void add_value(struct ct_buf *out, const char *value)
{
	for (; *value != '\0'; value++)
		if (*value == '%' || *value == '&')
			ct_buf_add_format(out, "%%%02x", (unsigned char)*value);
		else
			ct_buf_add_char(out, *value);
}

/* The servers of URL: "nats://h1:4222, nats://h2" becomes "nats://h1:4222,h2". */
static void add_servers(struct ct_buf *out, const char *url)
{
	const char *scheme_end = strstr(url, "://") + 3;

	ct_buf_add(out, url, (size_t)(scheme_end - url));
	for (const char *at = scheme_end; *at != '\0'; at++) {
		if (*at == ' ')
			continue;
		ct_buf_add_char(out, *at);
		if (*at != ',')
			continue;
		at += strspn(at + 1, " ");
		if (strncmp(at + 1, url, (size_t)(scheme_end - url)) == 0)
			at += scheme_end - url;
	}
}

static enum ctrace_status property_refused(const struct ctrace_emitter_context *context,
					   const char *name, const char *message,
					   const char *expected)
{
	struct ct_buf text;

	ct_buf_init(&text);
	ct_buf_add_format(&text, "mftrace.emitter.NATS#%s: %s; expected %s", name, message,
			  expected);
	ct_emitter_failed_at(context, ct_buf_text(&text));
	ct_buf_fini(&text);
	errno = EINVAL;
	return CTRACE_OS_ERROR;
}

/* A program's own calls may set any value. */
static enum ctrace_status property_check(const struct ctrace_emitter_context *context,
					 const char *name, const char *value)
{
	const struct ctrace_property *row = ct_emitter_property(&ct_emit_nats, name, strlen(name));
	struct ct_diagnostic wrong;

	if (ct_property_check(row, (struct ct_span){ value, strlen(value) }, &wrong) !=
	    CT_PROPERTY_WRONG)
		return CTRACE_OK;
	return property_refused(context, name, wrong.message, wrong.expected);
}

static enum ctrace_status address_add_key(struct ct_buf *out,
					  const struct ctrace_emitter_context *context,
					  const char *name, const char *key, bool *has_key)
{
	const char *value = context->property(context, name);
	enum ctrace_status status;

	if (value == NULL || value[0] == '\0')
		return CTRACE_OK;
	status = property_check(context, name, value);
	if (status != CTRACE_OK)
		return status;
	ct_buf_add_format(out, "%c%s=", *has_key ? '&' : '?', key);
	add_value(out, context->property(context, name));
	*has_key = true;
	return CTRACE_OK;
}

static enum ctrace_status address_print(struct ct_buf *out,
					const struct ctrace_emitter_context *context)
{
	static const struct {
		const char *name, *key;
	} keys[] = {
		{ "CA", "ca" },
		{ "CERT", "certificate" },
		{ "CLUSTER", "cluster" },
		{ "CREDENTIALS", "credentials" },
		{ "KEY", "key" },
		{ "LINGER", "linger" },
		{ "MAXAGE", "maxage" },
		{ "MAXBYTES", "maxbytes" },
		{ "REPLICAS", "replicas" },
		{ "SPOOLSIZE", "spoolsize" },
		{ "SUBJECT", "subject" },
	};
	const char *value = context->property(context, "URL");
	enum ctrace_status status;
	bool has_key = false;

	if (value == NULL || value[0] == '\0')
		return property_refused(context, "URL", "it is not set",
					"the servers, such as nats://host1:4222,host2:4222");
	status = property_check(context, "URL", value);
	if (status != CTRACE_OK)
		return status;
	add_servers(out, context->property(context, "URL"));
	value = context->property(context, "STREAM");
	status = property_check(context, "STREAM", value);
	ct_buf_add_char(out, '/');
	add_value(out, context->property(context, "STREAM"));
	for (size_t i = 0; i < CT_COUNT(keys) && status == CTRACE_OK; i++)
		status = address_add_key(out, context, keys[i].name, keys[i].key, &has_key);
	return status;
}

static enum ctrace_status address_read(struct nats *nats)
{
	struct ct_buf address;
	enum ctrace_status status;

	ct_buf_init(&address);
	status = address_print(&address, nats->outer);
	if (status == CTRACE_OK && address.failed)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	if (status == CTRACE_OK && address.size >= sizeof nats->address)
		status = property_refused(nats->outer, "URL", "the address is too long",
					  "less than 4096 bytes with all properties");
	if (status == CTRACE_OK)
		memcpy(nats->address, ct_buf_text(&address), address.size + 1);
	ct_buf_fini(&address);
	return status;
}

/* Puts the address into the present segment.  One without an address is not sent; the next call
 * tries again. */
static enum ctrace_status address_put(struct nats *nats)
{
	const char *path = nats->outer->place->path;
	enum ctrace_status status;

	if (strcmp(nats->addressed, path) == 0)
		return CTRACE_OK;
	nats->look_at_ns = nats->look_soonest_ns;
	nats->used += SEGMENT_ROOM;
	status = ct_spool_put_address(path, nats->address);
	if (status == CTRACE_OK)
		memcpy(nats->addressed, path, strlen(path) + 1);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * The spool
 */

/* The directory of the place: a recoverer has another environment than the process had. */
static bool spool_of_place(struct nats *nats)
{
	const char *path = nats->outer->place->path;
	const char *slash = memchr(path, '\0', sizeof nats->outer->place->path) != NULL
				    ? strrchr(path, '/')
				    : NULL;

	if (slash == NULL || slash == path || path[0] != '/')
		return false;
	memcpy(nats->spool, path, (size_t)(slash - path));
	nats->spool[slash - path] = '\0';
	return true;
}

static enum ctrace_status spool_find(struct nats *nats)
{
	char why[CT_PRIVATE_WHY_SIZE] = "", text[CTRACE_EMITTER_PATH_SIZE + sizeof why + 32];
	enum ctrace_status status = CTRACE_OS_ERROR;
	int error;

	if (spool_of_place(nats))
		return CTRACE_OK;
	if (ct_spool_root(nats->spool))
		status = ct_spool_make(nats->spool, why);
	if (status == CTRACE_OK)
		return CTRACE_OK;
	error = errno;
	(void)snprintf(text, sizeof text, why[0] != '\0' ? "the spool %s is refused: %s" : "%s",
		       nats->spool, why);
	ct_emitter_failed_at(nats->outer, text);
	errno = error;
	return status;
}

/* The name of the segments: no other process has it, even when this one's number is used again. */
static enum ctrace_status file_name(struct nats *nats)
{
	const struct ctrace_emitter_context *context = nats->outer;
	char program[64];
	size_t at = 0;
	int size;

	for (const char *from = context->program; *from != '\0' && at + 1 < sizeof program; from++)
		program[at++] = (*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
						(*from >= '0' && *from <= '9') || *from == '-'
					? *from
					: '_';
	program[at] = '\0';
	size = snprintf(nats->file, sizeof nats->file, "%s/%s.%u.%llx.$(GEN).ctb", nats->spool,
			at > 0 ? program : "_", context->pid,
			(unsigned long long)context->start_ns);
	if (size > 0 && (size_t)size < sizeof nats->file)
		return CTRACE_OK;
	errno = ENAMETOOLONG;
	return CTRACE_OS_ERROR;
}

static uint64_t size_read(const struct ctrace_emitter_context *context, const char *name,
			  uint64_t otherwise)
{
	const char *value = context->property(context, name);
	uint64_t size;

	return value != NULL && ct_size_parse(value, strlen(value), &size) ? size : otherwise;
}

/* Is there room for that many bytes more?  Other processes write to the spool, and forwarders make
 * room in it: it is measured again after a while, and before it counts as full.
 *
 * Room for a segment stays free on the file system: for closing segments, for the forwarder's notes
 * and for recovery.  Without it a full spool could not be emptied. */
static bool spool_has_room(struct nats *nats, uint64_t bytes)
{
	uint64_t now = ct_clock_mono_ns(), took, disk, spare;
	struct ct_spool_state state;
	bool is_disk_short;
	char text[CTRACE_EMITTER_PATH_SIZE + 160];

	bytes += 4 * BLOCK; /* what closing a segment adds, and parts of blocks */
	if (now < nats->look_at_ns && nats->used + bytes <= nats->room_end)
		return true;
	if (!ct_spool_measure(nats->spool, &state))
		return true; /* writing reports why */
	took = ct_clock_mono_ns() - now;
	nats->look_soonest_ns = now + took * LOOK_SHARE;
	nats->look_at_ns = now + (took * LOOK_SHARE > LOOK_NS ? took * LOOK_SHARE : LOOK_NS);
	nats->used = state.bytes;
	ct_spool_disk(nats->spool, &disk, &spare);
	spare -= spare > nats->segment ? nats->segment : spare;
	is_disk_short = spare < nats->limit && state.bytes + spare < nats->limit;
	nats->room_end = is_disk_short ? state.bytes + spare : nats->limit;
	if (state.bytes + bytes <= nats->room_end && state.traces < CT_SPOOL_TRACES)
		return true;
	(void)snprintf(text, sizeof text,
		       "the spool %s has %llu KiB in %u traces and is full (%s): "
		       "ctrace forward --spool makes room",
		       nats->spool, (unsigned long long)(state.bytes >> 10), state.traces,
		       is_disk_short ? "its file system" : "ctrace.spool.size");
	ct_emitter_failed_at(nats->outer, text);
	errno = EDQUOT;
	return false;
}

/* -----------------------------------------------------------------------------------------------
 * The methods
 */

/* A segment that was begun for another address is followed by one for this. */
static enum ctrace_status segment_check(struct nats *nats)
{
	char address[CT_SPOOL_ADDRESS_SIZE], boot[CT_SPOOL_BOOT_SIZE];
	enum ctrace_status status = CTRACE_OK;

	if (!ct_spool_get_address(nats->outer->place->path, address, boot))
		return CTRACE_OK;
	if (strcmp(address, nats->address) != 0 && !nats->outer->recovering)
		status = ct_emit_binfile.rotate(nats->bin);
	else
		memcpy(nats->addressed, nats->outer->place->path,
		       strlen(nats->outer->place->path) + 1);
	return status;
}

static enum ctrace_status nats_set_up(struct nats *nats)
{
	uint64_t size, spare;
	enum ctrace_status status = address_read(nats);

	if (status == CTRACE_OK)
		status = spool_find(nats);
	if (status == CTRACE_OK)
		status = file_name(nats);
	nats->limit = size_read(nats->outer, "SPOOLSIZE", CT_SPOOL_SIZE_DEFAULT);
	ct_spool_disk(nats->spool, &size, &spare);
	nats->segment = (size < nats->limit ? size : nats->limit) / SEGMENTS;
	nats->segment = nats->segment > SEGMENT_MAX   ? SEGMENT_MAX
			: nats->segment < SEGMENT_MIN ? SEGMENT_MIN
						      : nats->segment;
	(void)snprintf(nats->segment_kb, sizeof nats->segment_kb, "%llu",
		       (unsigned long long)(nats->segment >> 10));
	return status;
}

static enum ctrace_status nats_open(const struct ctrace_emitter_context *context, void **out_self)
{
	struct nats *nats = calloc(1, sizeof *nats);
	enum ctrace_status status;

	if (nats == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	nats->outer = context;
	inner_fill(nats);
	status = nats_set_up(nats);
	if (status == CTRACE_OK && context->place->path[0] == '\0' && !spool_has_room(nats, BLOCK))
		status = CTRACE_BUFFER_TOO_SMALL;
	if (status == CTRACE_OK)
		status = ct_emit_binfile.open(&nats->inner, &nats->bin);
	if (status != CTRACE_OK) {
		free(nats);
		return status;
	}
	status = segment_check(nats);
	if (status == CTRACE_OK)
		status = address_put(nats);
	if (status != CTRACE_OK) {
		nats->inner.uncommitted = true;
		ct_emit_binfile.close(nats->bin);
		free(nats);
		return status;
	}
	*out_self = nats;
	return CTRACE_OK;
}

static enum ctrace_status nats_write(void *self, const struct ctrace_batch *batch)
{
	struct nats *nats = self;
	uint64_t bytes = 0;
	enum ctrace_status status;

	for (uint32_t i = 0; i < batch->run_count; i++)
		bytes += batch->runs[i].size + PACKET_ROOM;
	if (!nats->outer->recovering && !spool_has_room(nats, bytes))
		return CTRACE_BUFFER_TOO_SMALL;
	status = ct_emit_binfile.write(nats->bin, batch);
	if (status != CTRACE_OK)
		return status;
	nats->used += bytes;
	(void)!address_put(nats);
	return CTRACE_OK;
}

static void nats_lost(void *self, const uint64_t totals[CTRACE_LOSS_COUNT])
{
	ct_emit_binfile.lost(((struct nats *)self)->bin, totals);
}

static enum ctrace_status nats_flush(void *self)
{
	return ct_emit_binfile.flush(((struct nats *)self)->bin);
}

/* Marks the last segment: its process is dead, and all its events are delivered.  A segment that is
 * closed in order has BINFILE's mark. */
static void segment_end(const char *path)
{
	struct ct_file_id id, directory_id;
	int directory, fd;

	if (ct_os_open_directory(AT_FDCWD, path, &directory, &directory_id) != CTRACE_OK)
		return;
	if (ct_os_open_known(directory, CT_SPOOL_ENDED, O_WRONLY | O_CREAT, &fd, &id) == CTRACE_OK)
		ct_os_close_file(&fd, &id);
	ct_os_close_file(&directory, &directory_id);
}

static void nats_close(void *self)
{
	struct nats *nats = self;
	const struct ctrace_emitter_context *outer = nats->outer;

	(void)!address_put(nats);
	nats->inner.ending = outer->ending;
	nats->inner.uncommitted = outer->uncommitted;
	ct_emit_binfile.close(nats->bin);
	if (outer->recovering && outer->ending && !outer->uncommitted)
		segment_end(outer->place->path);
	free(nats);
}

static enum ctrace_status nats_rotate(void *self)
{
	struct nats *nats = self;
	enum ctrace_status status = ct_emit_binfile.rotate(nats->bin);

	return status == CTRACE_OK ? address_put(nats) : status;
}

static const struct ctrace_property properties[] = {
	{ "CA", CTRACE_PROPERTY_PATH, NULL,
	  "A file in PEM format: the authorities that sign the servers' certificates." },
	{ "CATALOG", CTRACE_PROPERTY_TEXT, NULL,
	  "Files and directories, colons between, that name events in the metadata (built-in, as the last: ctrace's own); else CTRACE_CATALOG, or MFTRACE_ANNOTATIONS." },
	{ "CERT", CTRACE_PROPERTY_PATH, NULL,
	  "A file in PEM format: the forwarder's certificate." },
	{ "CLUSTER", CTRACE_PROPERTY_WORD, NULL,
	  "The part of the subjects that names the cluster of machines; else default." },
	{ "COMPRESS", CTRACE_PROPERTY_COMPRESS, "no",
	  "zstd: segments that are full, and the last one of a process, are compressed while they wait." },
	{ "CREDENTIALS", CTRACE_PROPERTY_PATH, NULL,
	  "A file with the user's credentials, as nsc makes it." },
	CT_ENCODING_PROPERTY,
	{ "FLUSHEVERY", CTRACE_PROPERTY_NUMBER, "1",
	  "Events that may wait before they are written; 0: until there is a good deal." },
	{ "FORMAT", CTRACE_PROPERTY_FORMAT, NULL,
	  "The line that ctrace show prints an event by; at most 511 bytes.  Unset: its own." },
	{ "KEY", CTRACE_PROPERTY_PATH, NULL, "A file in PEM format: the key of CERT." },
	{ "LEVEL", CTRACE_PROPERTY_LEVEL, "0",
	  "Events below this level are not written; 5 or more silences." },
	{ "LINGER", CTRACE_PROPERTY_DURATION, NULL,
	  "How long the spool keeps what the servers have acknowledged; 5m when unset; set by ctrace.spool.linger." },
	{ "MAXAGE", CTRACE_PROPERTY_AGE, NULL,
	  "Of a stream that is made: how long it keeps messages, such as 12h or 7d." },
	{ "MAXBYTES", CTRACE_PROPERTY_CAPACITY, NULL,
	  "Of a stream that is made: how many bytes of messages it keeps, such as 10G." },
	{ "REPLICAS", CTRACE_PROPERTY_COPIES, NULL,
	  "Of a stream that is made: how many servers keep it, 1 to 5." },
	{ "SPOOLSIZE", CTRACE_PROPERTY_SIZE, NULL,
	  "How much may wait in the spool; 1G when unset; set by ctrace.spool.size." },
	{ "STREAM", CTRACE_PROPERTY_WORD, "TRACES", "The name of the stream." },
	{ "SUBJECT", CTRACE_PROPERTY_SUBJECT, NULL, "The beginning of all subjects; else ctrace." },
	{ "URL", CTRACE_PROPERTY_SERVERS, NULL,
	  "The servers: nats://HOST[:PORT][,HOST...], or tls:// for encryption." },
	{ 0 },
};

const struct ctrace_emitter ct_emit_nats = {
	.size = sizeof(struct ctrace_emitter),
	.name = "NATS",
	.flags = CTRACE_EMITTER_FILE | CTRACE_EMITTER_RUNS | CTRACE_EMITTER_LIMITED |
		 CTRACE_EMITTER_ENDS,
	.properties = properties,
	.open = nats_open,
	.write = nats_write,
	.lost = nats_lost,
	.flush = nats_flush,
	.close = nats_close,
	.rotate = nats_rotate,
};
