/*
 * start.c - the order in which a process's tracing starts and stops; the only file that knows every
 * part.
 *
 * ct_process_attach() runs on the thread that first needs the process (the first tracer that
 * registers), the destructor on the thread that ends it.  Everything that can fail leaves the
 * traced program running and the loss counted.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/start.h"

#include "lib/dump/crash.h"
#include "lib/component/writer_link.h"
#include "lib/process/aside.h"
#include "lib/watch/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;

void ct_attach_lock(void)
{
	ct_guard_lock(&attach_lock);
}

void ct_attach_unlock(void)
{
	ct_guard_unlock(&attach_lock);
}

void ct_attach_unlock_in_child(bool is_held)
{
	if (is_held) {
		ct_attach_unlock();
		return;
	}
	(void)pthread_mutex_init(&attach_lock, NULL);
	ct_guard_leave();
}

/* ---- changes that commands make ---- */

static void note_file_destinations(void)
{
	uint32_t mask = 0;
	const struct ctrace_emitter *emitter;

	for (uint32_t i = 0; (emitter = ct_emitter_at(i)) != NULL; i++)
		if ((emitter->flags & CTRACE_EMITTER_FILE) != 0)
			mask |= 1u << i;
	__atomic_store_n(&ct_process.file_dests, mask, __ATOMIC_RELAXED);
}

static uint64_t block_timeout_ns(void)
{
	return __atomic_load_n(&ct_process.settings.block_timeout_ns, __ATOMIC_RELAXED);
}

/* Events committed so far are delivered with the old settings, as far as the output takes them
 * within the timeout. */
static void hold_consumer(void *user)
{
	(void)user;
	(void)!ct_consumer_thread_flush(block_timeout_ns());
	ct_consumer_thread_lock();
}

/* Returns when the destinations in use are open, or cannot be opened: the next trace call reports
 * that. */
static void release_consumer(void *user, uint32_t reopen)
{
	(void)user;
	if (ct_consumer_thread_consumer() != NULL)
		ct_consumer_reopen(ct_consumer_thread_consumer(), reopen);
	note_file_destinations();
	ct_consumer_thread_unlock();
	ct_consumer_thread_ask_open();
	ct_consumer_thread_await_open(block_timeout_ns());
}

/* Component trace is notified first of changes by other interfaces or the operator, because its
 * routines may refuse. */
static void report_change(const struct ct_change *change, void *user)
{
	ct_component_change(change, user);
	ct_notify_change(change, user);
}

static struct ct_target target_self = {
	.settings = &ct_process.settings,
	.hold = hold_consumer,
	.release = release_consumer,
	.user = &ct_process,
	.changed = report_change,
	.triggers_changed = ct_trigger_update,
};

static bool open_first(void)
{
	if (__atomic_exchange_n(&ct_process.is_unopened, 0, __ATOMIC_ACQ_REL) == 0 ||
	    ct_thread_is_in_handler())
		return false;
	ct_consumer_thread_ask_open();
	return true;
}

static void await_first(void)
{
	ct_consumer_thread_await_open(block_timeout_ns());
}

/* ---- attaching ---- */

/* An operator left the request while the process was dormant, and does not wait for the answer. */
static void left_carry_out(const struct ct_buf *request, void *unused)
{
	struct ct_message message;
	struct ct_buf answer;
	size_t size;

	(void)unused;
	ct_buf_init(&answer);
	for (size_t at = 0;
	     ct_message_parse(request->data + at, request->size - at, &message, &size) == CTRACE_OK;
	     at += size)
		ct_operate(&message, &answer, NULL);
	ct_buf_fini(&answer);
}

static uint32_t left_done; /* 1: what was left has been carried out; sleepers wait on it */

/* On the control thread, before it serves anybody; on the waking thread without one. */
static void answer_bell(void *user)
{
	struct ct_process *process = user;

	ct_bell_answer(&process->session, left_carry_out, NULL);
	__atomic_store_n(&left_done, 1, __ATOMIC_RELEASE);
	ct_os_wake(&left_done);
}

/* Without the control thread the process is still traced, but accepts no commands. */
static void start_control(struct ct_process *process)
{
	const struct ct_server_options options = { .session = &process->session,
						   .answer = ct_operate,
						   .admit = ct_operate_admit,
						   .answer_member = ct_operate_member,
						   .begin = answer_bell,
						   .user = process,
						   .task = ct_consumer_thread_settle,
						   .task_delay_ms =
							   CT_CONSUMER_THREAD_SETTLE_AFTER_MS };

	(void)!ct_server_start(&options);
}

/* Returns the run directory for this process; NULL: it uses none. */
static const char *run_directory(char path[4096])
{
	const char *configured = ct_process.settings.run_directory;

	path[0] = '\0';
	if (!ct_process.settings.attach)
		return NULL;
	if (ct_directory_run_directory(configured[0] != '\0' ? configured : NULL, path) !=
	    CTRACE_OK) {
		path[0] = '\0';
		return NULL;
	}
	return path;
}

#define LARGEST_PAGE 65536u

/* The page is static: a mapping would cost each process a call.  A child finds it wiped, and uses
 * it again. */
static void make_mark(void)
{
	static const uint32_t always = 1;
	static unsigned char room[2 * LARGEST_PAGE];
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *page = room + (-(uintptr_t)room & (size - 1));

	ct_process.mark = &always;
	if (size > LARGEST_PAGE || madvise(page, size, MADV_WIPEONFORK) != 0)
		return;
	*(uint32_t *)(void *)page = 1;
	ct_process.mark = (const uint32_t *)(const void *)page;
}

/* Returns true when there is nothing that a thread would have to do.  Operators find such a process
 * by its session.  A child has the traces of its parent. */
static bool may_be_dormant(const struct ct_process *process)
{
	const struct ct_session *session = &process->session;
	const struct ct_settings *settings = &process->settings;
	const uint32_t traces = CT_COMPONENT_DEFINED | CT_COMPONENT_HIDDEN;
	uint32_t flight_level =
		ct_registry_configured(process->registry, CT_COMPONENT_NONE).flight_level;

	if (session->path[0] == '\0' || settings->triggers.count != 0 || settings->dump_on != 0 ||
	    settings->operators.gid != 0 || settings->displayers.gid != 0 ||
	    session->head->is_dormant == CT_AWAKE || flight_level < CTRACE_LEVEL_COUNT ||
	    ct_level_default(process->registry) != CTRACE_LEVEL_NONE)
		return false;
	for (uint32_t i = 0; i < session->component_count; i++)
		if (session->components[i].level_word.level != CTRACE_LEVEL_NONE ||
		    (session->components[i].flags & traces) != 0)
			return false;
	return true;
}

/* Notes the clock and the origin, which events and their readers need. */
static void prepare_events(struct ct_process *process)
{
	ct_clock_choose((enum ct_clock_setting)process->settings.clock);
	ct_session_note_clock(&process->session);
	ct_shared_sync_update(&process->session.head->sync, 0);
	ct_registry_lock(process->registry);
	ct_session_note_origin(&process->session, process->settings.command_line);
	ct_registry_unlock(process->registry);
}

/* Starts the thread that answers operators.  The consumer thread starts when it is needed. */
static void wake_up(struct ct_process *process)
{
	start_control(process);
	ct_trigger_update();
	/* Without a control thread nobody else looks for orphans, or starts the consumer thread for
	 * a signal handler. */
	if (!ct_server_runs()) {
		ct_session_note_start(&process->session);
		ct_consumer_thread_watch();
		ct_consumer_thread_begin();
	}
}

/* Under the attach lock: the state of a process that has attached. */
static uint32_t attached_state;

/* The last step of attaching.  Without room for a consumer thread there is nothing to deliver, and
 * no directory; the run directory counts the process. */
static enum ctrace_status start_threads(struct ct_process *process, const char *run_directory)
{
	bool is_dormant = may_be_dormant(process);

	if (!is_dormant && !ct_os_has_room(CT_CONSUMER_THREAD_ROOM)) {
		if (process->session.path[0] != '\0')
			ct_unattached_note(run_directory, ENOMEM, 0);
		ct_directory_remove_own(&process->session);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	if (!is_dormant)
		prepare_events(process);
	process->is_unopened = 1;
	if (process->settings.dump_on != 0)
		ct_crash_follow(process);
	ct_consumer_thread_start(process, run_directory);
	ct_operate_share();
	left_done = 0;
	attached_state = is_dormant ? CT_PROCESS_DORMANT : CT_PROCESS_ATTACHED;
	if (is_dormant)
		__atomic_store_n(&process->session.head->is_dormant, CT_DORMANT, __ATOMIC_RELEASE);
	else
		wake_up(process);
	return CTRACE_OK;
}

static enum ctrace_status attach_new(struct ct_process *process, const struct ct_setup_file *file)
{
	enum ctrace_status status = ct_thread_start_up();
	struct ct_target configuring;
	char path[4096];

	if (status != CTRACE_OK)
		return status;
	ct_setup_read_settings(file, &process->settings);
	status = ct_session_create_dormant(&process->session, run_directory(path));
	if (status != CTRACE_OK)
		return status;
	process->classes.table = process->session.classes;
	status = ct_registry_create(&process->session, &process->registry);
	if (status == CTRACE_OK)
		status = ct_ring_pool_create(&process->session, &process->pool);
	configuring =
		(struct ct_target){ .registry = process->registry, .settings = &process->settings };
	/* Half a configuration would drop events without counting them.  So every event is counted
	 * as lost instead. */
	if (status == CTRACE_OK)
		status = ct_setup_apply_configuration(file, &configuring, &process->session);
	if (status != CTRACE_OK) {
		ct_session_close(&process->session, true);
		return status;
	}
	ct_setup_apply_kept(path, &configuring);
	make_mark();
	target_self.registry = process->registry;
	process->target = &target_self;
	ct_routine_find_cobol = ct_cobol_find_routine;
	note_file_destinations();
	process->session.head->flight_at_death =
		process->settings.flight_trigger == CT_TRIGGER_SIGNAL;
	status = start_threads(process, path);
	if (status != CTRACE_OK) {
		/* The address space is the program's: nothing points there yet. */
		process->target = NULL;
		ct_session_close(&process->session, false);
	}
	return status;
}

/* A child's own session, rings and consumer thread; the registry is a copy of its parent's.  When
 * that fails, the session's memory stays: level words are there that the parent's tracers point to.
 */
static enum ctrace_status attach_forked(struct ct_process *process)
{
	enum ctrace_status status;
	char path[4096];

	status = ct_session_fork(&process->session, run_directory(path));
	if (status != CTRACE_OK)
		return status;
	ct_dest_recount(process->registry);
	status = ct_ring_pool_reset(&process->pool);
	if (status != CTRACE_OK) {
		ct_directory_remove_own(&process->session);
		return status;
	}
	make_mark();
	ct_component_forked();
	status = start_threads(process, path);
	if (status == CTRACE_OK)
		ct_writer_forked();
	return status;
}

/* Under no lock, after the process has attached or woken. */
static void answer_without_thread(struct ct_process *process)
{
	if (__atomic_load_n(&process->state, __ATOMIC_ACQUIRE) == CT_PROCESS_ATTACHED &&
	    !ct_server_runs())
		answer_bell(process);
}

/* On a stack of our own.  argument: a bool, is the process attached? */
static void attach_slowly(void *argument)
{
	struct ct_process *process = &ct_process;
	enum ctrace_status status = CTRACE_FAILURE;
	struct ct_setup_file file;

	ct_setup_file_init(&file);
	if (__atomic_load_n(&process->state, __ATOMIC_ACQUIRE) == CT_PROCESS_NEW &&
	    !ct_setup_load_modules(&file))
		return;
	ct_attach_lock();
	switch (process->state) {
	case CT_PROCESS_ATTACHED:
	case CT_PROCESS_DORMANT:
		attached_state = process->state;
		status = CTRACE_OK;
		break;
	case CT_PROCESS_NEW:
		status = attach_new(process, &file);
		break;
	case CT_PROCESS_FORKED:
		status = attach_forked(process);
		break;
	default:
		break;
	}
	if (status == CTRACE_OK) {
		__atomic_store_n(&process->state, attached_state, __ATOMIC_SEQ_CST);
		ct_process_hand_over_losses();
	} else if (process->state != CT_PROCESS_CLOSED)
		__atomic_store_n(&process->state, CT_PROCESS_FAILED, __ATOMIC_RELEASE);
	ct_attach_unlock();
	ct_setup_file_fini(&file);
	answer_without_thread(process);
	*(bool *)argument = status == CTRACE_OK;
}

static bool process_attach(void)
{
	bool is_attached = false;

	ct_on_own_stack(attach_slowly, &is_attached);
	return is_attached;
}

/* A dormant process wakes or ends, once: the end takes no lock. */
static bool process_leave_dormant(uint32_t state)
{
	uint32_t dormant = CT_PROCESS_DORMANT;

	return __atomic_compare_exchange_n(&ct_process.state, &dormant, state, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* As attach_slowly(): is the process awake?  It waits for what was left to it, so that the call
 * that wakes it is treated as the operator wants. */
static void rouse_slowly(void *argument)
{
	struct ct_process *process = &ct_process;

	ct_guard_output();
	ct_attach_lock();
	if (__atomic_load_n(&process->state, __ATOMIC_ACQUIRE) == CT_PROCESS_DORMANT)
		prepare_events(process);
	if (process_leave_dormant(CT_PROCESS_ATTACHED))
		wake_up(process);
	ct_attach_unlock();
	answer_without_thread(process);
	*(bool *)argument =
		__atomic_load_n(&process->state, __ATOMIC_ACQUIRE) == CT_PROCESS_ATTACHED;
	if (*(bool *)argument)
		(void)ct_os_wait_until(&left_done, 1, block_timeout_ns());
}

static bool process_rouse(void)
{
	bool is_awake = false;

	if (!ct_thread_is_in_handler())
		ct_on_own_stack(rouse_slowly, &is_awake);
	return is_awake;
}

static void reset_parent(void)
{
	ct_fork_reset(false);
	ct_os_thread_child();
}

const struct ct_process_steps ct_process_steps = {
	.attach = process_attach,
	.rouse = process_rouse,
	.reset_parent = reset_parent,
	.wake = ct_consumer_thread_wake,
	.open_first = open_first,
	.await_first = await_first,
	.flush = ctrace_flush,
};

/* ---- ending ---- */

/* Does another thread live that may still commit events to its ring? */
static bool others_trace(const struct ct_ring_pool *pool)
{
	uint32_t self = ct_os_thread_id();

	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		uint32_t owner = ct_ring_owner(ct_ring_pool_at(pool, i));

		if (owner != 0 && owner != self && ct_os_thread_exists(owner))
			return true;
	}
	return false;
}

static bool all_delivered(const struct ct_ring_pool *pool)
{
	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		const struct ct_ring *ring = ct_ring_pool_at(pool, i);

		if (!ring->head->kept && !ct_ring_is_empty(ring))
			return false;
	}
	return true;
}

static bool has_losses(const struct ct_process *process)
{
	uint64_t lost = ct_loss_total(process->session.head->lost);

	for (uint32_t i = 0; i < ct_ring_pool_count(process->pool); i++) {
		const struct ct_ring *ring = ct_ring_pool_at(process->pool, i);

		lost += ct_ring_lost_total(ring) +
			__atomic_load_n(&ring->head->passed_over, __ATOMIC_RELAXED) +
			__atomic_load_n(&ring->head->undelivered, __ATOMIC_RELAXED);
	}
	return lost != 0;
}

static void stats_collect(struct ctrace_stats *stats);

/* Nobody finds the losses of a process without a directory, so the run directory counts them. */
static void note_private_losses(const struct ct_process *process)
{
	struct ctrace_stats stats = { 0 };
	char path[4096];
	uint64_t lost;

	if (process->session.path[0] != '\0' || run_directory(path) == NULL)
		return;
	stats_collect(&stats);
	lost = stats.pending;
	for (uint32_t reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
		lost += stats.lost[reason];
	if (lost != 0)
		ct_unattached_note(path, 0, lost);
}

static void directory_remove(struct ct_aside *unused)
{
	(void)unused;
	ct_directory_remove_own(&ct_process.session);
}

/* A run directory is usually memory, and then no thread is needed. */
static void directory_remove_in_time(bool is_memory)
{
	struct ct_aside *aside = is_memory ? NULL : malloc(sizeof *aside);

	if (aside == NULL) {
		directory_remove(NULL);
		return;
	}
	*aside = (struct ct_aside){ .work = directory_remove };
	if (ct_aside_run(aside))
		free(aside);
}

/*
 * After the program's atexit handlers and the destructors of what depends on us.  What cannot be
 * delivered, or may still come from another thread, stays in the run directory and is recovered by
 * the next who looks.
 */
static void end_on_stack(void *unused)
{
	struct ct_process *process = &ct_process;
	bool goes_on, is_whole;

	(void)unused;
	ct_guard_output(); /* a module's method may write */
	ct_server_stop();
	/* An event just before the end counts too, and a dump is made whole. */
	ct_trigger_stop(ct_aside_patience_ns(false));
	/* Threads that still trace go on into their rings; nothing else may. */
	goes_on = others_trace(process->pool);
	if (!goes_on) {
		/* A fork on another thread takes and releases its locks under one state. */
		ct_attach_lock();
		__atomic_store_n(&process->state, CT_PROCESS_CLOSED, __ATOMIC_RELEASE);
		ct_attach_unlock();
		ct_thread_leave();
	}
	if (!ct_consumer_thread_stop() || goes_on)
		return;
	note_private_losses(process);
	ct_consumer_thread_lock();
	is_whole = all_delivered(process->pool) &&
		   (ct_consumer_thread_consumer() == NULL ||
		    !ct_consumer_owes_losses(ct_consumer_thread_consumer()));
	if (is_whole && !ct_directory_is_left() && !ct_crash_ends_process() &&
	    !(ct_setup_leaves_losses() && has_losses(process)))
		directory_remove_in_time(process->session.file_system == CT_OS_MEMORY);
	ct_consumer_thread_unlock();
	if (is_whole)
		ct_bin_pack_end();
}

/* Nothing was traced, no thread runs, and there is only the directory with its one file to remove.
 * On this machine's file systems no thread is started for that: the program may have forbidden to
 * start one. */
static bool end_dormant(struct ct_process *process)
{
	if (process->session.file_system == CT_OS_AFAR || ct_directory_is_left() ||
	    has_losses(process) || !process_leave_dormant(CT_PROCESS_CLOSED))
		return false;
	ct_directory_remove_own(&process->session);
	return true;
}

__attribute__((destructor)) void ct_process_end(void)
{
	if (ct_process_has_session() && *ct_process.mark != 0 && ct_thread_locked == 0 &&
	    !end_dormant(&ct_process))
		ct_on_own_stack(end_on_stack, NULL);
}

/* ---- what the process has traced ---- */

static void add_ring(struct ctrace_stats *stats, const struct ct_ring *ring,
		     const struct ct_class_image *classes)
{
	const struct ct_ring_head *head = ring->head;
	uint64_t consumed = __atomic_load_n(&head->consumed, __ATOMIC_RELAXED);
	uint64_t overwritten = __atomic_load_n(&head->overwritten, __ATOMIC_RELAXED);
	uint64_t damaged = __atomic_load_n(&head->undelivered, __ATOMIC_RELAXED);
	uint64_t unwritten = __atomic_load_n(&head->unwritten, __ATOMIC_RELAXED) +
			     __atomic_load_n(&head->passed_over, __ATOMIC_RELAXED);

	/* While two destinations are passed over one after the other, the lost ones may not be
	 * consumed yet. */
	stats->rings += ct_ring_is_used(head);
	stats->delivered += consumed > overwritten + damaged + unwritten
				    ? consumed - overwritten - damaged - unwritten
				    : 0;
	stats->lost[CTRACE_LOSS_OVERWRITTEN] += overwritten + ct_ring_count_overwritten(ring);
	stats->lost[CTRACE_LOSS_DAMAGED] += damaged;
	stats->lost[CTRACE_LOSS_UNDELIVERABLE] += unwritten;
	stats->pending += ct_ring_count_pending(ring, classes);
	for (uint32_t reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
		stats->lost[reason] += __atomic_load_n(&head->lost[reason], __ATOMIC_RELAXED);
}

static void stats_collect(struct ctrace_stats *stats)
{
	const struct ct_process *process = &ct_process;
	/* with the session, where there is one */
	uint32_t state = __atomic_load_n(&process->state, __ATOMIC_ACQUIRE);
	bool has_session = ct_process_has_session() || state == CT_PROCESS_CLOSED;
	struct ct_class_image classes;
	uint32_t rings;

	for (uint32_t reason = 0; reason < CTRACE_LOSS_COUNT; reason++) {
		stats->lost[reason] +=
			__atomic_load_n(&process->lost_unattached[reason], __ATOMIC_RELAXED);
		if (has_session)
			stats->lost[reason] += __atomic_load_n(&process->session.head->lost[reason],
							       __ATOMIC_RELAXED);
	}
	for (uint32_t level = 0; level < CTRACE_LEVEL_COUNT; level++)
		stats->lost[CTRACE_LOSS_NESTED] +=
			__atomic_load_n(&process->lost_early[level], __ATOMIC_RELAXED);
	if (!has_session)
		return;
	rings = ct_ring_pool_count(process->pool);
	stats->components = ct_registry_count(process->registry);
	classes = ct_session_classes(&process->session);
	/* Under the consumer's lock no event is between pending and delivered. */
	ct_consumer_thread_lock();
	for (uint32_t i = 0; i < rings; i++)
		add_ring(stats, ct_ring_pool_at(process->pool, i), &classes);
	ct_consumer_thread_unlock();
}

void ctrace_stats_get(struct ctrace_stats *stats)
{
	CT_CANCEL_OFF();
	struct ctrace_stats whole = { .size = stats != NULL ? stats->size : 0 };
	int kept = errno;

	if (stats == NULL)
		return;
	stats_collect(&whole);
	whole.emitted = whole.delivered + whole.pending;
	for (uint32_t reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
		whole.emitted += whole.lost[reason];
	memcpy(stats, &whole, stats->size < sizeof whole ? stats->size : sizeof whole);
	errno = kept;
}

const char *ctrace_version(void)
{
	return CT_VERSION;
}
