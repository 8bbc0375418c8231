/*
 * time_text.c - parses a point in time as people write it: clock time, date, or time ago.
 *
 * Called by the filter's grammar and by the tools, on one thread.  Local time, unless a Z is at the
 * end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/event/event.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#define MOST_DIGITS 9u

#define NS_PER_SECOND 1000000000u

/* Parses the decimal number at `at`.  Returns the position behind it; NULL when there is none, or
 * it exceeds limit. */
static const char *take_number(const char *at, uint64_t limit, uint64_t *out_value)
{
	const char *start = at;
	uint64_t value = 0;

	for (; *at >= '0' && *at <= '9'; at++) {
		unsigned digit = (unsigned)(*at - '0');

		if (value > (limit - digit) / 10)
			return NULL;
		value = value * 10 + digit;
	}
	*out_value = value;
	return at != start ? at : NULL;
}

/* ".5" -> 500,000,000; digits past nanoseconds are ignored.  Returns `at` when there is no
 * fraction. */
static const char *take_fraction(const char *at, uint64_t *out_ns)
{
	uint64_t ns = 0, unit = NS_PER_SECOND / 10;

	*out_ns = 0;
	if (*at != '.')
		return at;
	at++;
	if (*at < '0' || *at > '9')
		return NULL;
	for (; *at >= '0' && *at <= '9'; at++, unit /= 10)
		ns += (uint64_t)(*at - '0') * unit;
	*out_ns = ns;
	return at;
}

/* "@1700000000.5" */
static bool parse_epoch(const char *at, uint64_t *out_ns)
{
	uint64_t seconds, ns;

	at = take_number(at, INT64_MAX / NS_PER_SECOND - 1, &seconds);
	if (at != NULL)
		at = take_fraction(at, &ns);
	if (at == NULL || *at != '\0')
		return false;
	*out_ns = seconds * NS_PER_SECOND + ns;
	return true;
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " ");
}

/* Returns the position behind the word; NULL when it is another one. */
static const char *take_word(const char *at, const char *word)
{
	size_t size = strlen(word);
	bool is_longer = (at[0] | 0x20) >= 'a' && (at[0] | 0x20) <= 'z' &&
			 strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != size;

	return !is_longer && strncasecmp(at, word, size) == 0 ? at + size : NULL;
}

static const char *take_unit(const char *at, uint64_t *out_seconds)
{
	static const struct {
		const char *names[5];
		uint64_t seconds;
	} units[] = {
		{ { "s", "sec", "secs", "second", "seconds" }, 1 },
		{ { "m", "min", "mins", "minute", "minutes" }, 60 },
		{ { "h", "hr", "hrs", "hour", "hours" }, 3600 },
		{ { "d", "day", "days" }, 86400 },
		{ { "w", "week", "weeks" }, 604800 },
	};

	for (size_t i = 0; i < CT_COUNT(units); i++)
		for (size_t j = 0; j < CT_COUNT(units[i].names) && units[i].names[j] != NULL; j++) {
			const char *end = take_word(at, units[i].names[j]);

			if (end == NULL)
				continue;
			*out_seconds = units[i].seconds;
			return end;
		}
	return NULL;
}

/* "5m", "1.5h", "30 min ago": that long before now */
static bool parse_ago(const char *at, uint64_t now_ns, uint64_t *out_ns)
{
	uint64_t count, ns, ago, seconds;
	const char *end;

	at = take_number(at, 100000000, &count);
	if (at != NULL)
		at = take_fraction(at, &ns);
	if (at != NULL)
		at = take_unit(skip_blanks(at), &seconds);
	if (at == NULL)
		return false;
	end = take_word(skip_blanks(at), "ago");
	if (*(end != NULL ? end : at) != '\0' || count > INT64_MAX / NS_PER_SECOND / seconds)
		return false;
	ago = (count * NS_PER_SECOND + ns) * seconds;
	*out_ns = ago < now_ns ? now_ns - ago : 0;
	return true;
}

/* Parses exactly `digits` digits, at most max. */
static const char *take_field(const char *at, unsigned digits, int max, int *out_value)
{
	int value = 0;

	for (unsigned i = 0; i < digits; i++, at++) {
		if (*at < '0' || *at > '9')
			return NULL;
		value = value * 10 + (*at - '0');
	}
	*out_value = value;
	return value <= max ? at : NULL;
}

/* "2026-01-31", or "2026/01/31" as text traces print it */
static const char *take_date(const char *at, struct tm *date)
{
	int year, month;
	char between;

	at = take_field(at, 4, 9999, &year);
	if (at == NULL || (*at != '-' && *at != '/'))
		return NULL;
	between = *at;
	at = take_field(at + 1, 2, 12, &month);
	if (at == NULL || *at != between || month == 0)
		return NULL;
	date->tm_year = year - 1900;
	date->tm_mon = month - 1;
	return take_field(at + 1, 2, 31, &date->tm_mday);
}

/* "today", "yesterday": the day's parts */
static const char *take_day_word(const char *at, struct tm *date)
{
	const char *end = take_word(at, "today");

	if (end != NULL)
		return end;
	end = take_word(at, "yesterday");
	if (end == NULL)
		return NULL;
	/* Noon is far from any change to or from summer time. */
	date->tm_mday--;
	date->tm_hour = 12;
	date->tm_isdst = -1;
	(void)mktime(date);
	date->tm_hour = 0;
	return end;
}

/* "15:12", "15:12:27", "15:12:27.993" */
static const char *take_clock(const char *at, struct tm *clock, uint64_t *out_ns)
{
	*out_ns = 0;
	clock->tm_sec = 0;
	at = take_field(at, 2, 23, &clock->tm_hour);
	if (at == NULL || *at != ':')
		return NULL;
	at = take_field(at + 1, 2, 59, &clock->tm_min);
	if (at == NULL || *at != ':')
		return at;
	at = take_field(at + 1, 2, 60, &clock->tm_sec);
	return at != NULL ? take_fraction(at, out_ns) : NULL;
}

static bool parse_calendar(const char *text, uint64_t now_ns, uint64_t *out_ns)
{
	time_t now = (time_t)(now_ns / NS_PER_SECOND), seconds;
	bool is_utc = false;
	struct tm parts, wanted;
	uint64_t ns = 0;
	const char *at;

	if (localtime_r(&now, &parts) == NULL)
		return false;
	parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
	at = take_date(text, &parts);
	if (at == NULL)
		at = take_day_word(text, &parts);
	if (at == NULL)
		at = take_clock(text, &parts, &ns);
	else if (*at == ' ' || *at == 'T')
		at = take_clock(at + 1, &parts, &ns);
	if (at != NULL && *at == 'Z') {
		is_utc = true;
		at++;
	}
	if (at == NULL || *at != '\0')
		return false;
	parts.tm_isdst = -1;
	wanted = parts;
	seconds = is_utc ? timegm(&parts) : mktime(&parts);
	/* mktime() turns the 30th of February into a day of March. */
	if (seconds < 0 || parts.tm_mday != wanted.tm_mday ||
	    (uint64_t)seconds > INT64_MAX / NS_PER_SECOND - 1)
		return false;
	*out_ns = (uint64_t)seconds * NS_PER_SECOND + ns;
	return true;
}

bool ct_filter_parse_time(const char *text, uint64_t now_ns, uint64_t *out_ns)
{
	if (text[0] == '@')
		return parse_epoch(text + 1, out_ns);
	if (text[0] == '-')
		return parse_ago(text + 1, now_ns, out_ns);
	if (strcasecmp(text, "now") == 0) {
		*out_ns = now_ns;
		return true;
	}
	if (parse_ago(text, now_ns, out_ns))
		return true;
	return parse_calendar(text, now_ns, out_ns);
}

unsigned ct_text_digits(unsigned digits, uint64_t before_ns, uint64_t time_ns)
{
	uint64_t unit_ns = digits <= 3 ? 1000000 : digits <= 6 ? 1000 : 1;

	while (digits < MOST_DIGITS && before_ns != time_ns &&
	       before_ns / unit_ns == time_ns / unit_ns) {
		digits = digits <= 3 ? 6 : MOST_DIGITS;
		unit_ns /= 1000;
	}
	return digits;
}
