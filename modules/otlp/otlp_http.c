/*
 * otlp_http.c - requests to a receiver of OTLP, by libcurl.
 *
 * Called on the sender's thread (otlp_sender.c) or by ctrace export.  libcurl may raise no signal,
 * follows no redirection, and takes no proxy from the environment.  A constructor prepares libcurl
 * and OpenSSL while the module is loaded, which happens on a thread that gives a command.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "otlp/otlp.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

typedef Opentelemetry__Proto__Collector__Logs__V1__ExportLogsServiceResponse otlp_logs_response;
typedef Opentelemetry__Proto__Collector__Trace__V1__ExportTraceServiceResponse otlp_traces_response;
typedef Opentelemetry__Proto__Collector__Logs__V1__ExportLogsPartialSuccess otlp_partial;

#define RESPONSE_LIMIT ((size_t)64 << 10)
#define CONNECT_MS 5000u
#define TEXT_SHOWN 200u /* bytes of a receiver's message */
#define RETRY_AFTER_LIMIT 3600u
#define FIRST_RETRY_NS 200000000u
#define LAST_RETRY_NS 10000000000u
#define GZIP_WINDOW (15 + 16)
#define NO_EXIT_HANDLER 0x00080000u /* OPENSSL_INIT_NO_ATEXIT */
#define EXIT_WAIT_NS 400000000u

struct ct_otlp_http {
	CURL *easy;
	struct curl_slist *headers;
	struct ct_otlp_http_settings settings; /* the texts are the caller's */
	ct_otlp_is_over *is_over;
	const void *user;
	struct ct_buf response, packed;
	z_stream deflate;
	bool has_deflate;
	bool has_tls;
	char error[CURL_ERROR_SIZE];
};

/* -----------------------------------------------------------------------------------------------
 * OpenSSL at the end of the process
 *
 * A program that used OpenSSL before this module was loaded has an exit handler that ends OpenSSL,
 * and the last events are sent after that.  So our handler, which runs before it, ends TLS here:
 * those events stay in their rings, and recovery sends them.  Otherwise OpenSSL gets no exit
 * handler, and works until the end.
 */

static uint32_t tls_has_ended; /* atomic */
static uint32_t tls_users;     /* atomic: requests under way */

static void tls_end(void)
{
	uint64_t deadline = ct_clock_mono_ns() + EXIT_WAIT_NS;

	__atomic_store_n(&tls_has_ended, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		uint32_t users = __atomic_load_n(&tls_users, __ATOMIC_SEQ_CST);
		uint64_t now = ct_clock_mono_ns();

		if (users == 0 || now >= deadline || !ct_os_wait(&tls_users, users, deadline - now))
			return;
	}
}

/* Only a request by TLS is kept from running after its end. */
static bool tls_enter(bool has_tls)
{
	if (!has_tls)
		return true;
	(void)__atomic_fetch_add(&tls_users, 1, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&tls_has_ended, __ATOMIC_SEQ_CST) == 0;
}

static void tls_leave(bool has_tls)
{
	if (!has_tls)
		return;
	(void)__atomic_fetch_sub(&tls_users, 1, __ATOMIC_SEQ_CST);
	ct_os_wake(&tls_users);
}

struct objects {
	bool has_crypto;
	bool was_before; /* it was loaded before this module */
};

static int object_look(struct dl_phdr_info *info, size_t size, void *user)
{
	struct objects *objects = user;
	uintptr_t own = (uintptr_t)&tls_has_ended - info->dlpi_addr;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    own - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz) {
			objects->was_before = objects->has_crypto;
			return 1;
		}
	objects->has_crypto |= strstr(info->dlpi_name, "/libcrypto.so") != NULL;
	return 0;
}

__attribute__((constructor)) static void http_prepare(void)
{
	int kept = errno;
	struct objects objects = { .has_crypto = false };
	int (*init)(uint64_t options, const void *settings);
	void *symbol = dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");

	memcpy(&init, &symbol, sizeof init);
	(void)dl_iterate_phdr(object_look, &objects);
	if (symbol != NULL)
		(void)init(NO_EXIT_HANDLER, NULL);
	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	if (objects.was_before)
		(void)atexit(tls_end);
	errno = kept;
}

/* -----------------------------------------------------------------------------------------------
 * Set up
 */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* Appends a part of HEADERS; no line end gets into a header. */
static void add_decoded(struct ct_buf *out, const char *at, size_t size)
{
	while (size > 0 && *at == ' ') {
		at++;
		size--;
	}
	while (size > 0 && at[size - 1] == ' ')
		size--;
	for (size_t i = 0; i < size; i++) {
		char c = at[i];

		if (c == '%' && i + 2 < size && hex_digit(at[i + 1]) >= 0 &&
		    hex_digit(at[i + 2]) >= 0) {
			c = (char)(hex_digit(at[i + 1]) << 4 | hex_digit(at[i + 2]));
			i += 2;
		}
		if ((unsigned char)c >= 0x20)
			ct_buf_add_char(out, c);
	}
}

static bool header_add(struct ct_otlp_http *http, const char *text)
{
	struct curl_slist *longer = curl_slist_append(http->headers, text);

	if (longer != NULL)
		http->headers = longer;
	return longer != NULL;
}

/* "NAME=VALUE,NAME=VALUE" */
static bool headers_parse(struct ct_otlp_http *http, const char *at)
{
	struct ct_buf line;
	bool is_good = true;

	ct_buf_init(&line);
	while (at != NULL && *at != '\0' && is_good) {
		size_t size = strcspn(at, ",");
		const char *equals = memchr(at, '=', size);

		if (equals != NULL) {
			ct_buf_clear(&line);
			add_decoded(&line, at, (size_t)(equals - at));
			ct_buf_add_text(&line, ": ");
			add_decoded(&line, equals + 1, size - (size_t)(equals + 1 - at));
			is_good = !line.failed && header_add(http, ct_buf_text(&line));
		}
		at += size + (at[size] == ',');
	}
	ct_buf_fini(&line);
	return is_good;
}

static size_t response_take(char *data, size_t size, size_t count, void *user)
{
	struct ct_otlp_http *http = user;

	if (http->response.size < RESPONSE_LIMIT)
		ct_buf_add(&http->response, data, size * count);
	return size * count;
}

static int progress_look(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct ct_otlp_http *http = user;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return http->is_over(http->user);
}

static void http_set_options(struct ct_otlp_http *http)
{
	CURL *easy = http->easy;

	(void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
	(void)curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	(void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	(void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	(void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)http->settings.timeout_ms);
	(void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
			       (long)(http->settings.timeout_ms < CONNECT_MS
					      ? http->settings.timeout_ms
					      : CONNECT_MS));
	(void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, http->headers);
	(void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, http->error);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, response_take);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, http);
	(void)curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress_look);
	(void)curl_easy_setopt(easy, CURLOPT_XFERINFODATA, http);
	(void)curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	(void)curl_easy_setopt(easy, CURLOPT_POST, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "ctrace/" CT_VERSION);
	if (http->settings.ca != NULL)
		(void)curl_easy_setopt(easy, CURLOPT_CAINFO, http->settings.ca);
	if (http->settings.certificate != NULL)
		(void)curl_easy_setopt(easy, CURLOPT_SSLCERT, http->settings.certificate);
	if (http->settings.key != NULL)
		(void)curl_easy_setopt(easy, CURLOPT_SSLKEY, http->settings.key);
}

struct ct_otlp_http *ct_otlp_http_create(const struct ct_otlp_http_settings *settings,
					 ct_otlp_is_over *is_over, const void *user)
{
	struct ct_otlp_http *http = calloc(1, sizeof *http);

	if (http == NULL)
		return NULL;
	http->settings = *settings;
	http->is_over = is_over;
	http->user = user;
	http->has_tls = strncmp(settings->url, "https:", 6) == 0;
	ct_buf_init(&http->response);
	ct_buf_init(&http->packed);
	/* "Expect:" - small requests should not wait for 100 Continue. */
	if (!header_add(http, "Content-Type: application/x-protobuf") ||
	    !header_add(http, "Expect:") ||
	    (settings->has_gzip && !header_add(http, "Content-Encoding: gzip")) ||
	    !headers_parse(http, settings->headers))
		goto undo;
	if (settings->has_gzip) {
		if (deflateInit2(&http->deflate, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8,
				 Z_DEFAULT_STRATEGY) != Z_OK)
			goto undo;
		http->has_deflate = true;
	}
	http->easy = curl_easy_init();
	if (http->easy == NULL)
		goto undo;
	http_set_options(http);
	return http;
undo:
	ct_otlp_http_destroy(http);
	return NULL;
}

void ct_otlp_http_destroy(struct ct_otlp_http *http)
{
	if (http == NULL)
		return;
	/* Closing a connection uses TLS. */
	if (http->easy != NULL && tls_enter(http->has_tls))
		curl_easy_cleanup(http->easy);
	if (http->easy != NULL)
		tls_leave(http->has_tls);
	curl_slist_free_all(http->headers);
	if (http->has_deflate)
		(void)deflateEnd(&http->deflate);
	ct_buf_fini(&http->response);
	ct_buf_fini(&http->packed);
	free(http);
}

/* -----------------------------------------------------------------------------------------------
 * A request
 */

static bool body_pack(struct ct_otlp_http *http, const struct ct_buf *body)
{
	z_stream *deflate_of = &http->deflate;
	size_t bound = deflateBound(deflate_of, body->size);

	ct_buf_clear(&http->packed);
	if (!ct_buf_reserve(&http->packed, bound) || deflateReset(deflate_of) != Z_OK)
		return false;
	deflate_of->next_in = (Bytef *)body->data;
	deflate_of->avail_in = (uInt)body->size;
	deflate_of->next_out = (Bytef *)http->packed.data;
	deflate_of->avail_out = (uInt)bound;
	if (deflate(deflate_of, Z_FINISH) != Z_STREAM_END)
		return false;
	http->packed.size = bound - deflate_of->avail_out;
	return true;
}

static int errno_of(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_CONNECT:
		return ECONNREFUSED;
	case CURLE_COULDNT_RESOLVE_HOST:
		return EHOSTUNREACH;
	case CURLE_OPERATION_TIMEDOUT:
		return ETIMEDOUT;
	case CURLE_OUT_OF_MEMORY:
		return ENOMEM;
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		return ECONNRESET;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
		return EACCES;
	default:
		return EIO;
	}
}

/* Appends at most `limit` bytes of a text of the receiver, harmless on one line. */
static void add_shown(struct ct_buf *out, const char *text, size_t size)
{
	if (size > TEXT_SHOWN)
		size = TEXT_SHOWN;
	while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
		size--;
	ct_escape_add(out, text, size);
}

static bool response_is_protobuf(const struct ct_otlp_http *http)
{
	char *type = NULL;

	return curl_easy_getinfo(http->easy, CURLINFO_CONTENT_TYPE, &type) == CURLE_OK &&
	       type != NULL && strncmp(type, "application/x-protobuf", 22) == 0;
}

/* What a receiver says of an error: google.rpc.Status has the fields of a partial success, a number
 * and a text. */
static void add_refusal(struct ct_otlp_http *http, struct ct_buf *text)
{
	otlp_partial *status = NULL;

	if (http->response.size == 0)
		return;
	if (!response_is_protobuf(http)) {
		ct_buf_add_text(text, ": ");
		add_shown(text, http->response.data, http->response.size);
		return;
	}
	status = opentelemetry__proto__collector__logs__v1__export_logs_partial_success__unpack(
		NULL, http->response.size, (const uint8_t *)http->response.data);
	if (status == NULL)
		return;
	if (status->error_message[0] != '\0') {
		ct_buf_add_text(text, ": ");
		add_shown(text, status->error_message, strlen(status->error_message));
	}
	opentelemetry__proto__collector__logs__v1__export_logs_partial_success__free_unpacked(
		status, NULL);
}

/* Every number of a receiver goes through here. */
static uint64_t clamp(int64_t number, uint64_t limit)
{
	return number <= 0 ? 0 : (uint64_t)number < limit ? (uint64_t)number : limit;
}

static void note_partial(struct ct_otlp_result *out, struct ct_buf *text, uint32_t records,
			 int64_t rejected, const char *message)
{
	out->rejected = clamp(rejected, records);
	if (out->rejected == 0 && message[0] == '\0')
		return;
	ct_buf_add_text(text, ": ");
	add_shown(text, message, strlen(message));
}

/* records: of the request */
static void take_partial(struct ct_otlp_http *http, enum ct_otlp_signal signal, uint32_t records,
			 struct ct_otlp_result *out, struct ct_buf *text)
{
	const uint8_t *data = (const uint8_t *)http->response.data;
	size_t size = http->response.size;

	if (size == 0 || !response_is_protobuf(http))
		return;
	if (signal == CT_OTLP_LOGS) {
		otlp_logs_response *response =
			opentelemetry__proto__collector__logs__v1__export_logs_service_response__unpack(
				NULL, size, data);

		if (response != NULL && response->partial_success != NULL)
			note_partial(out, text, records,
				     response->partial_success->rejected_log_records,
				     response->partial_success->error_message);
		if (response != NULL)
			opentelemetry__proto__collector__logs__v1__export_logs_service_response__free_unpacked(
				response, NULL);
	} else {
		otlp_traces_response *response =
			opentelemetry__proto__collector__trace__v1__export_trace_service_response__unpack(
				NULL, size, data);

		if (response != NULL && response->partial_success != NULL)
			note_partial(out, text, records, response->partial_success->rejected_spans,
				     response->partial_success->error_message);
		if (response != NULL)
			opentelemetry__proto__collector__trace__v1__export_trace_service_response__free_unpacked(
				response, NULL);
	}
}

/* Returns what to change when a receiver answers with this status; "": nothing is known. */
static const char *status_hint(long status)
{
	if (status == 404 || status == 405)
		return "; URL is the receiver's base, to which ctrace adds /v1/logs and /v1/traces";
	if (status == 401 || status == 403)
		return "; HEADERS may have a token: HEADERS=Authorization=Bearer%20TOKEN";
	if (status / 100 == 3)
		return "; redirections are not followed: URL must be where the receiver is";
	return "";
}

/* records: of the request */
static void note_status(struct ct_otlp_http *http, enum ct_otlp_signal signal, uint32_t records,
			struct ct_otlp_result *out, struct ct_buf *text)
{
	curl_off_t after = 0;

	out->is_answered = true;
	out->error = EIO;
	if (out->status / 100 == 2) {
		out->answer = CT_OTLP_ACCEPTED;
		out->error = 0;
		take_partial(http, signal, records, out, text);
		return;
	}
	ct_buf_add_format(text, ": HTTP %ld", out->status);
	add_refusal(http, text);
	ct_buf_add_text(text, status_hint(out->status));
	out->is_throttled = out->status == 429 || out->status == 502 || out->status == 503 ||
			    out->status == 504;
	out->answer = out->status == 400 || out->status == 413 || out->status == 422
			      ? CT_OTLP_REFUSED
			      : CT_OTLP_AGAIN;
	if (out->is_throttled)
		out->error = EAGAIN;
	if (out->is_throttled &&
	    curl_easy_getinfo(http->easy, CURLINFO_RETRY_AFTER, &after) == CURLE_OK)
		out->retry_ns = UINT64_C(1000000000) * clamp(after, RETRY_AFTER_LIMIT);
}

/* An answer that accepts broke off, or there is none.  It may have had a partial success, so the
 * request is sent once more; the second time it counts as accepted. */
static void note_broken(struct ct_otlp_http *http, CURLcode code, struct ct_otlp_result *out,
			struct ct_buf *text)
{
	ct_buf_add_text(text, ": ");
	ct_buf_add_text(text, http->error[0] != '\0' ? http->error : curl_easy_strerror(code));
	out->error = errno_of(code);
	if (out->status / 100 != 2 || http->is_over(http->user))
		return;
	out->answer = out->is_broken ? CT_OTLP_ACCEPTED : CT_OTLP_AGAIN;
	out->is_broken = true;
}

static void http_perform(struct ct_otlp_http *http, enum ct_otlp_signal signal, uint32_t records,
			 struct ct_otlp_result *out, struct ct_buf *text)
{
	CURLcode code;

	http->error[0] = '\0';
	if (!tls_enter(http->has_tls)) {
		ct_buf_add_text(text, ": the program has ended TLS");
		out->error = ECANCELED;
		tls_leave(http->has_tls);
		return;
	}
	code = curl_easy_perform(http->easy);
	(void)curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &out->status);
	/* A refusal is one without its text, too. */
	if (code != CURLE_OK && out->status / 100 <= 2)
		note_broken(http, code, out, text);
	else
		note_status(http, signal, records, out, text);
	tls_leave(http->has_tls);
}

bool ct_otlp_refusals_note(struct ct_otlp_refusals *refusals, const struct ct_otlp_result *result,
			   uint32_t records)
{
	if (result->answer == CT_OTLP_ACCEPTED || result->status != refusals->status)
		*refusals = (struct ct_otlp_refusals){ .status = result->status };
	if (result->answer != CT_OTLP_REFUSED)
		return false;
	refusals->count += records == 1;
	return records > 1 && refusals->count < CT_OTLP_REFUSALS;
}

void ct_otlp_http_post(struct ct_otlp_http *http, enum ct_otlp_signal signal,
		       const struct ct_buf *body, uint32_t records, struct ct_otlp_result *out)
{
	const struct ct_buf *sent = body;
	struct ct_buf text, url;
	size_t shown_size;

	*out = (struct ct_otlp_result){ .answer = CT_OTLP_AGAIN,
					.is_broken = out->is_broken,
					.error = ENOMEM };
	ct_buf_init(&text);
	ct_buf_init(&url);
	ct_buf_add_format(&url, "%s/v1/%s", http->settings.url,
			  signal == CT_OTLP_LOGS ? "logs" : "traces");
	if (ct_buf_reserve(&text, url.size + 1) && !url.failed) {
		ct_address_shown(text.data, url.size + 1, ct_buf_text(&url));
		text.size = strlen(text.data);
	}
	shown_size = text.size;
	ct_buf_clear(&http->response);
	if (http->has_deflate)
		sent = body_pack(http, body) ? &http->packed : NULL;
	if (sent != NULL && !url.failed &&
	    curl_easy_setopt(http->easy, CURLOPT_URL, ct_buf_text(&url)) == CURLE_OK) {
		(void)curl_easy_setopt(http->easy, CURLOPT_POSTFIELDS, sent->data);
		(void)curl_easy_setopt(http->easy, CURLOPT_POSTFIELDSIZE_LARGE,
				       (curl_off_t)sent->size);
		http_perform(http, signal, records, out, &text);
	}
	if (out->answer != CT_OTLP_ACCEPTED || text.size > shown_size)
		(void)snprintf(out->text, sizeof out->text, "%s", ct_buf_text(&text));
	ct_buf_fini(&text);
	ct_buf_fini(&url);
}

uint64_t ct_otlp_retry_ns(const struct ct_otlp_result *result, uint32_t failures)
{
	uint64_t wait = FIRST_RETRY_NS << (failures < 8 ? failures : 8);

	if (result->retry_ns != 0)
		return result->retry_ns;
	if (wait > LAST_RETRY_NS)
		wait = LAST_RETRY_NS;
	/* Between half and all of it, so that senders that failed together do not come together. */
	return wait / 2 + ct_clock_ticks() % (wait / 2);
}
