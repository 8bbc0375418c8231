/*
 * report_page.c - the page of a report: the template web/report.html with style, script and data in
 * their places.
 *
 * Called once, when all events are packed.  The template and what belongs into it are part of the
 * tool (scripts/embed.sh).  In the template
 * {{STYLE}}, {{SCRIPT}}, {{DATA}}, {{TITLE}} and {{NONCE}} are filled in.  What a trace says
 * reaches the page in base64 only, and the page's policy lets no script run but this one: a text in
 * a trace can be anything.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/report/report_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "report_assets.h" /* made by the build */

#define ASSET(name) \
	{ \
		(const char *)(name), sizeof(name) \
	}
struct asset {
	const char *data;
	size_t size;
};
static const struct asset template = ASSET(asset_report_html);
static const struct asset styles[] = { ASSET(asset_uPlot_min_css), ASSET(asset_report_css) };
static const struct asset library_licence = ASSET(asset_uPlot_LICENSE);
static const struct asset scripts[] = {
	ASSET(asset_uPlot_iife_min_js),  ASSET(asset_report_data_js),
	ASSET(asset_report_model_js),    ASSET(asset_report_spans_js),
	ASSET(asset_report_timeline_js), ASSET(asset_report_overview_js),
	ASSET(asset_report_table_js),    ASSET(asset_report_detail_js),
	ASSET(asset_report_panels_js),   ASSET(asset_report_js),
};
static const char *const column_names[CT_COLUMN_COUNT] = {
	[CT_COLUMN_TIME] = "time",   [CT_COLUMN_CLASS] = "class", [CT_COLUMN_THREAD] = "thread",
	[CT_COLUMN_ITEMS] = "items", [CT_COLUMN_SPANS] = "spans", [CT_COLUMN_RECORDS] = "records",
};

/* ---- base64 ---- */

#define GROUPS 4096u /* of three bytes, written at once */

static void base64_put_group(char out[4], const unsigned char *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t word = (uint32_t)bytes[0] << 16 | (size > 1 ? (uint32_t)bytes[1] << 8 : 0) |
			(size > 2 ? bytes[2] : 0);

	out[0] = digits[word >> 18];
	out[1] = digits[word >> 12 & 63];
	out[2] = '=';
	out[3] = '=';
	if (size > 1)
		out[2] = digits[word >> 6 & 63];
	if (size > 2)
		out[3] = digits[word & 63];
}

static void write_base64(FILE *to, const void *data, size_t size)
{
	const unsigned char *at = data;
	char out[GROUPS * 4];

	while (size > 0) {
		size_t count = 0;

		for (; count < GROUPS && size > 0; count++) {
			size_t part = size < 3 ? size : 3;

			base64_put_group(out + count * 4, at, part);
			at += part;
			size -= part;
		}
		fwrite(out, 4, count, to);
	}
}

/* ---- parts ---- */

struct page {
	struct ct_report *report;
	const struct ct_column *description;
	char nonce[33];
	FILE *to;
};

static void write_assets(const struct page *page, const struct asset *assets, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fwrite(assets[i].data, 1, assets[i].size, page->to);
		fputc('\n', page->to);
	}
}

static void write_style(const struct page *page)
{
	write_assets(page, styles, sizeof styles / sizeof *styles);
}

static void write_script(const struct page *page)
{
	/* The page contains its library's licence, so that copies of the page have it too. */
	fputs("/*\n", page->to);
	write_assets(page, &library_licence, 1);
	fputs("*/\n", page->to);
	write_assets(page, scripts, sizeof scripts / sizeof *scripts);
}

static void write_column(const struct page *page, const char *name, const struct ct_column *column)
{
	fprintf(page->to, "<script type=\"application/octet-stream\" id=\"data-%s\">", name);
	write_base64(page->to, column->packed.data, column->packed.size);
	fputs("</script>\n", page->to);
}

static void write_data(const struct page *page)
{
	write_column(page, "about", page->description);
	for (int i = 0; i < CT_COLUMN_COUNT; i++)
		write_column(page, column_names[i], &page->report->columns[i]);
}

/* For readers of the page's source. */
static void write_title(const struct page *page)
{
	struct ct_buf text;

	ct_buf_init(&text);
	if (page->report->title != NULL)
		ct_escape_add(&text, page->report->title, strlen(page->report->title));
	for (size_t i = 0; i < text.size; i++) {
		switch (text.data[i]) {
		case '<':
			fputs("&lt;", page->to);
			break;
		case '&':
			fputs("&amp;", page->to);
			break;
		default:
			fputc(text.data[i], page->to);
		}
	}
	if (text.size == 0)
		fputs("ctrace report", page->to);
	ct_buf_fini(&text);
}

static void write_nonce(const struct page *page)
{
	fputs(page->nonce, page->to);
}

static void nonce_make(char nonce[33])
{
	unsigned char bytes[16] = { 0 };
	struct ct_buf text;

	/* The authors of the trace cannot guess it.  Where the system gives no random bytes, the
	 * policy protects less. */
	(void)!getrandom(bytes, sizeof bytes, GRND_NONBLOCK);
	ct_buf_init(&text);
	for (size_t i = 0; i < sizeof bytes; i++)
		ct_buf_add_hex(&text, bytes[i], 2, false);
	memset(nonce, 0, 33);
	if (!text.failed)
		memcpy(nonce, text.data, text.size);
	ct_buf_fini(&text);
}

/* ---- the template ---- */

static const struct {
	const char *mark;
	void (*write)(const struct page *page);
} parts[] = {
	{ "{{STYLE}}", write_style }, { "{{SCRIPT}}", write_script }, { "{{DATA}}", write_data },
	{ "{{TITLE}}", write_title }, { "{{NONCE}}", write_nonce },
};

/* Fills in the mark at `at`.  Returns its length; 0 when there is none. */
static size_t mark_fill_in(const struct page *page, const char *at, size_t left)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		size_t size = strlen(parts[i].mark);

		if (left >= size && memcmp(at, parts[i].mark, size) == 0) {
			parts[i].write(page);
			return size;
		}
	}
	return 0;
}

static void write_page(const struct page *page)
{
	const char *at = template.data, *end = at + template.size;

	while (at < end) {
		const char *mark = memmem(at, (size_t)(end - at), "{{", 2);
		size_t size;

		if (mark == NULL)
			mark = end;
		fwrite(at, 1, (size_t)(mark - at), page->to);
		if (mark == end)
			return;
		size = mark_fill_in(page, mark, (size_t)(end - mark));
		if (size == 0)
			fputc(*mark, page->to);
		at = mark + (size > 0 ? size : 1);
	}
}

/* ---- */

static bool report_finish(struct ct_report *report)
{
	bool is_whole = !report->failed;

	for (int i = 0; i < CT_COLUMN_COUNT; i++)
		is_whole &= ct_column_finish(&report->columns[i]) == CTRACE_OK;
	return is_whole;
}

static enum ctrace_status pack_description(const struct ct_report *report,
					   const struct ct_read_totals *totals,
					   struct ct_column *column)
{
	json_t *json = ct_report_describe(report, totals);
	char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_column_add(column, text, strlen(text));
	free(text);
	return ct_column_finish(column);
}

enum ctrace_status ct_report_write(struct ct_report *report, const struct ct_read_totals *totals,
				   FILE *to)
{
	struct ct_column description;
	struct page page = { .report = report, .description = &description, .to = to };
	enum ctrace_status status =
		report_finish(report) ? ct_column_init(&description) : CTRACE_NOT_ENOUGH_MEMORY;

	if (status != CTRACE_OK)
		return status;
	status = pack_description(report, totals, &description);
	nonce_make(page.nonce);
	if (status == CTRACE_OK)
		write_page(&page);
	ct_column_fini(&description);
	return status;
}
