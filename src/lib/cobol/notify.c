/*
 * notify.c - callbacks on changes: CBL_CTF_TRACER_NOTIFY, CBL_CTF_TRACE_NOTIFY and
 * cobctf_tracer_notify.
 *
 * The registry reports a change on the thread that made it, under no lock (ct_notify_change).  Each
 * callback for it gets a notice, addressed to one thread: the same thread for a C callback, the
 * installing thread for a COBOL one, because the COBOL run time is not thread-safe.  A thread takes
 * its notices and calls back, again under no lock: the changing thread at once, an installing
 * thread in its next CBL_CTF_* call.  There it also finds deferred.c's commands for it.
 *
 * Notices are bounded, and so is nesting.  Inside a callback nothing is delivered.  Changes that a
 * callback makes are delivered when it has returned, up to a limit for each call.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "lib/emit/emit.h"

#define NOTICES_LIMIT 64u  /* waiting notices of one callback */
#define DELIVER_LIMIT 256u /* callbacks in one call */

/* A callback may need a mutex of the program that the uninstalling thread holds: it returns only
 * when that thread goes on. */
uint64_t ct_notify_limit_ns = UINT64_C(5000000000);

/* cblt-trc-notif-prop-change: the members of NOTIF_PROP_CHANGE without padding. */
struct packed_change {
	uint32_t version;
	uint32_t flags;
	uint32_t namelen;
	uint32_t vallen;
	uint32_t valint;
	const void *name;
	const void *value;
} __attribute__((packed));
_Static_assert(sizeof(struct packed_change) == 36 && offsetof(struct packed_change, name) == 20,
	       "cblt-trc-notif-prop-change has 36 bytes, its pointers at 20 and 28");
_Static_assert(sizeof(NOTIF_INSTALL) == 16 && offsetof(NOTIF_INSTALL, callback) == 8,
	       "NOTIF_INSTALL and cblt-trc-notif-install are one layout");

struct watch {
	struct watch *next;
	uint32_t component;
	bool is_cobol;
	bool removed;     /* uninstalled; freed when no thread is in it */
	uint32_t calls;   /* running calls */
	uint32_t waiters; /* threads in watch_uninstall() */
	TRACER_NOTIF_CALLBACK *callback;
	const void *thread; /* the installing thread */
};

struct notice {
	struct ct_thread_message message; /* to the delivering thread */
	struct watch *watch;
	int kind;
	uint32_t level;
	uint32_t number;
	uint32_t name_size;
	uint32_t value_size;
	bool is_number;
	char text[]; /* name, NUL, value, NUL */
};

/* A callback that runs on this thread; the innermost first. */
struct frame {
	struct frame *outer;
	struct watch *watch;
};

static __thread struct frame *frames __attribute__((tls_model("initial-exec")));

/* under the lock of thread_queue.c */
static struct {
	struct watch *watches;
	struct ct_thread_message *notices;
	ct_cobol_call_function *cobol_call; /* NULL: no COBOL in the process */
} notify;

static uint32_t watch_calls_here(const struct watch *watch)
{
	uint32_t calls = 0;

	for (const struct frame *frame = frames; frame != NULL; frame = frame->outer)
		calls += frame->watch == watch;
	return calls;
}

/* Only this thread exists in the child; calls on other threads never return. */
void ct_notify_forked(void)
{
	for (struct watch *watch = notify.watches; watch != NULL; watch = watch->next) {
		watch->calls = watch_calls_here(watch);
		watch->waiters = 0;
	}
}

/* ---- under the lock
 * ---------------------------------------------------------------------------------------- */

static struct watch **watch_find(uint32_t component, TRACER_NOTIF_CALLBACK *callback)
{
	struct watch **link = &notify.watches;

	while (*link != NULL && ((*link)->removed || (*link)->component != component ||
				 (*link)->callback != callback))
		link = &(*link)->next;
	return link;
}

/* Frees uninstalled watches that no thread is in. */
static void watches_free_removed(void)
{
	struct watch **link = &notify.watches;

	while (*link != NULL) {
		struct watch *watch = *link;

		if (!watch->removed || watch->calls != 0 || watch->waiters != 0) {
			link = &watch->next;
			continue;
		}
		*link = watch->next;
		free(watch);
	}
}

static bool notice_matches(const struct notice *notice, const struct ct_change *change)
{
	if (notice->kind != (int)change->kind)
		return false;
	return change->kind == CT_CHANGE_LEVEL ||
	       ct_name_equal(notice->text, notice->name_size, change->property,
			     change->property_size);
}

static bool text_is_number(const char *text, size_t size)
{
	size_t digits = 0;
	bool hex = size > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';

	for (size_t i = hex ? 2 : 0; i < size; i++, digits++) {
		bool digit = text[i] >= '0' && text[i] <= '9';

		if (!digit && !(hex && (text[i] | 0x20) >= 'a' && (text[i] | 0x20) <= 'f'))
			return false;
	}
	return digits != 0;
}

static struct notice *notice_create(struct watch *watch, const void *thread,
				    const struct ct_change *change)
{
	bool is_property = change->kind == CT_CHANGE_PROPERTY;
	size_t name_size = is_property ? change->property_size : 0;
	size_t value_size = is_property ? change->value_size : 0;
	struct notice *notice = malloc(sizeof(*notice) + name_size + value_size + 2);

	if (notice == NULL)
		return NULL;
	*notice = (struct notice){ .message.thread = thread,
				   .watch = watch,
				   .kind = (int)change->kind };
	memset(notice->text, 0, name_size + value_size + 2);
	if (!is_property) {
		notice->level = change->level;
		return notice;
	}
	memcpy(notice->text, change->property, name_size);
	memcpy(notice->text + name_size + 1, change->value, value_size);
	notice->name_size = (uint32_t)name_size;
	notice->value_size = (uint32_t)value_size;
	notice->number = (uint32_t)change->number;
	notice->is_number = text_is_number(change->value, value_size);
	return notice;
}

/* Adds a notice; it replaces an older one of the same thing for the same thread. */
static void notice_add(struct watch *watch, const void *thread, const struct ct_change *change)
{
	struct ct_thread_message **link = &notify.notices;
	struct notice *notice;
	uint32_t others = 0;

	while ((notice = (struct notice *)*link) != NULL) {
		if (notice->watch == watch && notice->message.thread == thread &&
		    notice_matches(notice, change)) {
			ct_thread_queue_spend(ct_thread_queue_take_out(link));
			continue;
		}
		others += notice->watch == watch;
		link = &notice->message.next;
	}
	notice = others < NOTICES_LIMIT ? notice_create(watch, thread, change) : NULL;
	if (notice != NULL)
		ct_thread_queue_append(&notify.notices, &notice->message);
}

/* ---- under no lock
 * ----------------------------------------------------------------------------------------- */

static void watch_call_back(const struct watch *watch, void *parameter, uint32_t type)
{
	uint32_t handle = ct_handle_of(watch->component);
	const sigset_t *lifted = ct_shield_lift();

	if (watch->is_cobol && notify.cobol_call != NULL)
		notify.cobol_call((void *)(uintptr_t)watch->callback, handle, type, parameter);
	else
		watch->callback(handle, type, parameter);
	ct_shield_restore(lifted);
}

static void watch_report(const struct watch *watch, const struct notice *notice)
{
	uint32_t level = notice->level;
	NOTIF_PROP_CHANGE change = {
		.flags = notice->is_number ? CTF_FLAG_PROP_INT_VALUE : 0,
		.namelen = notice->name_size,
		.vallen = notice->value_size,
		.valint = notice->number,
		.name = (const cobuns8_t *)notice->text,
		.value = (const cobuns8_t *)notice->text + notice->name_size + 1,
	};
	struct packed_change packed = {
		0,           change.flags, change.namelen, change.vallen, change.valint,
		change.name, change.value
	};

	if (notice->kind == CT_CHANGE_LEVEL)
		watch_call_back(watch, &level, TRACER_NOTIF_TYPE_LEVEL_CHANGE);
	else
		watch_call_back(watch, watch->is_cobol ? (void *)&packed : (void *)&change,
				TRACER_NOTIF_TYPE_PROP_CHANGE);
}

/* Delivers one notice that is addressed to this thread; false when there is none. */
static bool notice_deliver(void)
{
	struct ct_thread_message **link;
	struct notice *notice;
	struct frame frame = { .outer = frames };

	ct_thread_queue_lock();
	link = ct_thread_queue_find(&notify.notices, ct_ctf_thread());
	if (*link == NULL) {
		ct_thread_queue_unlock();
		return false;
	}
	notice = (struct notice *)ct_thread_queue_take_out(link);
	frame.watch = notice->watch;
	frame.watch->calls++;
	frames = &frame;
	ct_thread_queue_unlock();

	watch_report(frame.watch, notice);

	ct_thread_queue_lock();
	frames = frame.outer;
	frame.watch->calls--;
	ct_thread_queue_spend(&notice->message);
	if (frame.watch->waiters != 0)
		ct_thread_queue_wake();
	ct_thread_queue_unlock();
	return true;
}

static void notices_deliver(void)
{
	for (unsigned i = 0; i < DELIVER_LIMIT && notice_deliver(); i++)
		;
}

/* Does nothing inside a callback, or in a signal handler that interrupted a locked section of
 * ctrace. */
void ct_notify_deliver_slowly(bool may_command)
{
	CT_CANCEL_OFF();
	int saved_errno = errno;

	if (frames != NULL || ct_thread_queue_is_closed())
		return;
	notices_deliver();
	if (may_command && ct_deferred_run())
		notices_deliver();
	errno = saved_errno;
}

void ct_notify_change(const struct ct_change *change, void *user)
{
	bool is_for_me = false;

	(void)user;
	if (!ct_thread_queue_is_set_up())
		return;
	ct_thread_queue_lock();
	watches_free_removed();
	for (struct watch *watch = notify.watches; watch != NULL; watch = watch->next) {
		if (watch->removed || watch->component != change->component)
			continue;
		notice_add(watch, watch->is_cobol ? watch->thread : ct_ctf_thread(), change);
		is_for_me |= !watch->is_cobol;
	}
	ct_thread_queue_unlock();
	if (is_for_me)
		ct_notify_deliver_slowly(false);
}

/* ---- installing
 * -------------------------------------------------------------------------------------------- */

void *ct_cobol_bridge(const char *symbol)
{
	void *module = dlsym(RTLD_DEFAULT, "cob_get_global_ptr") != NULL
			       ? ct_module_open(CT_COBOL_MODULE)
			       : NULL;

	return module == NULL ? NULL : dlsym(module, symbol);
}

/* Loaded at the first COBOL callback. */
static ct_cobol_call_function *cobol_call_find(void)
{
	ct_cobol_call_function *known;

	ct_thread_queue_lock();
	known = notify.cobol_call;
	ct_thread_queue_unlock();
	return known != NULL ? known
			     : (ct_cobol_call_function *)(uintptr_t)ct_cobol_bridge(CT_COBOL_CALL);
}

void ct_cobol_hold_module(const void *code)
{
	Dl_info info;
	void *module;

	if (dladdr(code, &info) == 0 || info.dli_fname == NULL ||
	    strchr(info.dli_fname, '/') == NULL)
		return;
	module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (module != NULL)
		(void)dlclose(module);
}

/* Only a callback in COBOL belongs to a thread. */
static bool watch_matches(const struct watch *installed, const struct watch *wanted)
{
	return installed->is_cobol == wanted->is_cobol &&
	       (!wanted->is_cobol || installed->thread == wanted->thread);
}

/*
 * Under the lock.  Installing again changes nothing and succeeds: a COBOL program that was
 * cancelled and called again installs once more.
 */
static enum ctrace_status watch_add(struct watch **watch, ct_cobol_call_function *cobol_call)
{
	const struct watch *installed = *watch_find((*watch)->component, (*watch)->callback);

	if (!ct_thread_queue_set_up())
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (installed != NULL)
		return watch_matches(installed, *watch) ? CTRACE_OK : CTRACE_FAILURE;
	if (cobol_call != NULL)
		notify.cobol_call = cobol_call;
	(*watch)->next = notify.watches;
	notify.watches = *watch;
	ct_notify_installed += (*watch)->is_cobol;
	*watch = NULL;
	return CTRACE_OK;
}

static enum ctrace_status watch_install(const struct watch *wanted,
					ct_cobol_call_function *cobol_call)
{
	struct watch *watch = malloc(sizeof(*watch));
	enum ctrace_status status;

	if (watch == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	*watch = *wanted;
	if (watch->is_cobol)
		ct_cobol_hold_module((const void *)(uintptr_t)watch->callback);
	ct_thread_queue_lock();
	status = watch_add(&watch, cobol_call);
	ct_thread_queue_unlock();
	free(watch);
	return status;
}

/* Waits until no other thread is in the callback, whose code may be unloaded after this.  Under
 * the lock, which is released while the thread sleeps.  False: the callback still runs. */
static bool watch_wait(struct watch *watch)
{
	uint64_t end_ns = ct_clock_mono_ns() + ct_notify_limit_ns;

	watch->waiters++;
	while (watch->calls > watch_calls_here(watch) && ct_thread_queue_wait(end_ns))
		;
	if (watch->waiters != 0)
		watch->waiters--; /* zero in a child that a signal handler has forked meanwhile */
	return watch->calls <= watch_calls_here(watch);
}

static enum ctrace_status watch_uninstall(const struct watch *wanted)
{
	bool has_returned;
	struct ct_thread_message **link = &notify.notices;
	struct watch *watch;

	ct_thread_queue_lock();
	watch = *watch_find(wanted->component, wanted->callback);
	if (watch == NULL) {
		ct_thread_queue_unlock();
		return CTRACE_FAILURE;
	}
	watch->removed = true;
	while (*link != NULL) {
		if (((struct notice *)*link)->watch == watch)
			ct_thread_queue_spend(ct_thread_queue_take_out(link));
		else
			link = &(*link)->next;
	}
	has_returned = watch_wait(watch);
	/* Otherwise it is installed again, and can be uninstalled later, unless it was installed
	 * a second time meanwhile. */
	watch->removed = has_returned || *watch_find(wanted->component, wanted->callback) != NULL;
	if (watch->removed && watch->is_cobol && watch->thread == ct_ctf_thread())
		ct_notify_installed--;
	watches_free_removed();
	ct_thread_queue_unlock();
	return has_returned ? CTRACE_OK : CTRACE_TIMED_OUT;
}

static enum ctrace_status watch_change(cobuns32_t install_function, const void *block,
				       bool is_cobol)
{
	struct watch wanted = { .is_cobol = is_cobol, .thread = ct_ctf_thread() };
	enum ctrace_status status;
	NOTIF_INSTALL request;

	if (ct_cbl_is_null(block))
		return CTRACE_FAILURE;
	memcpy(&request, block, sizeof(request));
	status = ct_handle_component(request.handle, &wanted.component);
	if (status != CTRACE_OK)
		return status;
	wanted.callback = request.callback;
	if (wanted.callback == NULL)
		return CTRACE_FAILURE;
	if (install_function == TRACER_NOTIF_UNINSTALL)
		return watch_uninstall(&wanted);
	if (install_function != TRACER_NOTIF_INSTALL)
		return CTRACE_FAILURE;
	return watch_install(&wanted, is_cobol ? cobol_call_find() : NULL);
}

static cobrtncode_t tracer_notify(cobuns32_t install_function, const void *notif_install,
				  bool is_cobol)
{
	CT_CANCEL_OFF();
	int saved_errno = errno;
	enum ctrace_status status;

	ct_notify_deliver();
	status = watch_change(install_function, notif_install, is_cobol);
	errno = saved_errno;
	return ct_cbl_return(status);
}

cobrtncode_t CBL_CTF_TRACER_NOTIFY(cobuns32_t install_function, const void *notif_install)
{
	return tracer_notify(install_function, notif_install, true);
}

cobrtncode_t CBL_CTF_TRACE_NOTIFY(cobuns32_t install_function, const void *notif_install)
{
	return tracer_notify(install_function, notif_install, true);
}

cobrtncode_t cobctf_tracer_notify(cobuns32_t install_function, NOTIF_INSTALL *notif_install)
{
	return tracer_notify(install_function, notif_install, false);
}
