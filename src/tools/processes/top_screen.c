/*
 * top_screen.c - the terminal of ctrace top: draws rows, interprets keys.
 *
 * The only file that uses curses.  Every text comes from a third-party program: what is no plain
 * text is escaped before it is drawn, and what is too wide is cut.  Each drawing asks for the size
 * of the terminal, so the size may change at any time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/top.h"

#include <locale.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/cli.h"

#define NS_PER_SECOND 1000000000u
#define HEAD_LINES 3
#define FOOT_LINES 1
#define KEY_ESCAPE 27
#define WIDE 90     /* columns for the long first and last line */
#define HAS_JOBS 80 /* columns, for a column of job names; what is left out fits into 60 */
#define HAS_TOTALS 100
#define LEAST_DESTS 12 /* as wide as its title */
#define LEAST_HOST 8

enum { PAIR_WARN = 1, PAIR_ERROR, PAIR_GOOD };

static SCREEN *terminal;

static void screen_choose_colors(void)
{
	if (!has_colors() || start_color() == ERR)
		return;
	(void)use_default_colors();
	(void)init_pair(PAIR_WARN, COLOR_YELLOW, -1);
	(void)init_pair(PAIR_ERROR, COLOR_RED, -1);
	(void)init_pair(PAIR_GOOD, COLOR_GREEN, -1);
}

bool ct_top_screen_open(struct top_screen *screen)
{
	(void)screen;
	(void)setlocale(LC_CTYPE, "");
	terminal = newterm(NULL, stdout, stdin);
	if (terminal == NULL) {
		fputs("ctrace top: this terminal cannot be drawn on; see TERM, or use --batch\n",
		      stderr);
		return false;
	}
	(void)set_term(terminal);
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)keypad(stdscr, true);
	(void)nodelay(stdscr, true);
	(void)set_escdelay(25);
	(void)curs_set(0);
	screen_choose_colors();
	return true;
}

void ct_top_screen_close(void)
{
	if (terminal == NULL)
		return;
	(void)endwin();
	delscreen(terminal);
	terminal = NULL;
}

/* -----------------------------------------------------------------------------------------------
 * Drawing
 */

/* Draws what fits into `width` columns; the next column. */
static int put_text(int y, int x, int width, const char *text)
{
	struct ct_buf escaped;
	mbstate_t state = { 0 };
	const char *at;
	size_t left;
	int end = x + width < COLS ? x + width : COLS;

	ct_buf_init(&escaped);
	ct_escape_add(&escaped, text, strlen(text));
	at = ct_buf_text(&escaped);
	left = strlen(at);
	if (y < LINES)
		(void)move(y, x);
	while (left > 0 && y < LINES) {
		wchar_t c = L'?';
		size_t size = mbrtowc(&c, at, left, &state);
		int columns;

		if (size == (size_t)-1 || size == (size_t)-2 || size == 0) {
			memset(&state, 0, sizeof(state));
			c = L'?';
			size = 1;
		}
		columns = wcwidth(c) >= 0 ? wcwidth(c) : 1;
		if (x + columns > end)
			break;
		(void)addnstr(at, (int)size);
		x += columns;
		at += size;
		left -= size;
	}
	ct_buf_fini(&escaped);
	return x;
}

static void put_right(int y, int *x, int width, const char *text)
{
	int size = (int)strlen(text);

	if (y < LINES && *x + width <= COLS)
		(void)mvprintw(y, *x, "%*s", width, size <= width ? text : "*");
	*x += width + 2;
}

static void put_left(int y, int *x, int width, const char *text)
{
	(void)put_text(y, *x, width, text);
	*x += width + 2;
}

static void draw_head(const struct top_screen *screen, const struct top_rows *rows)
{
	time_t seconds = (time_t)(rows->wall_ns / NS_PER_SECOND);
	char when[16] = "?", events[16], bytes[16], lost[16], line[256];
	struct tm local;

	if (localtime_r(&seconds, &local) != NULL)
		strftime(when, sizeof(when), "%H:%M:%S", &local);
	ct_top_number(events, rows->events);
	ct_top_number(bytes, rows->bytes);
	ct_top_number(lost, rows->lost);
	if (COLS < WIDE)
		(void)snprintf(line, sizeof(line), "%s  %zu process%s  %s ev/s  %s B/s  %s lost/s",
			       screen->is_paused ? "PAUSED" : when, rows->processes,
			       rows->processes == 1 ? "" : "es", events, bytes, lost);
	else
		(void)snprintf(
			line, sizeof(line),
			"ctrace top  %s  every %.1fs%s  %zu process%s  %s events/s  %s bytes/s  %s lost/s",
			when, screen->interval, screen->is_paused ? "  PAUSED" : "",
			rows->processes, rows->processes == 1 ? "" : "es", events, bytes, lost);
	(void)attron(A_BOLD);
	(void)put_text(0, 0, COLS, line);
	(void)attroff(A_BOLD);
}

static void draw_message(const struct top_screen *screen)
{
	char line[512];

	if (screen->is_typing)
		(void)snprintf(line, sizeof(line), "/%s_", screen->pattern);
	else if (screen->message[0] != '\0')
		(void)snprintf(line, sizeof(line), "%s", screen->message);
	else
		(void)snprintf(line, sizeof(line), "sorted by %s%s%s%s%s",
			       ct_top_sort_name(screen->view.sort),
			       screen->view.is_reversed ? ", reversed" : "",
			       screen->view.is_busy_only ? ", busy ones only" : "",
			       screen->pattern_size > 0 ? ", only /" : "", screen->pattern);
	(void)put_text(1, 0, COLS, line);
}

/* The columns that have no width of their own share what the terminal has left. */
struct columns {
	int host, component, dests; /* 0: no such column */
	bool has_job, has_level, has_total;
};

static int name_widen(int width, const char *name)
{
	int columns = ct_tool_print(NULL, name, strlen(name));

	return columns > width ? columns : width;
}

/* The component gets what it needs, if the host has LEAST_HOST columns. */
static void columns_measure_stream(struct columns *columns, int left, int widest_host,
				   int widest_component)
{
	int room = left - 2 - widest_component;

	columns->host = room > LEAST_HOST ? room : LEAST_HOST;
	if (columns->host > widest_host)
		columns->host = widest_host;
	columns->component = left - 2 - columns->host;
	if (columns->component > widest_component)
		columns->component = widest_component;
	if (columns->component < (int)strlen("COMPONENT"))
		columns->component = (int)strlen("COMPONENT");
}

static struct columns columns_measure(const struct top_rows *rows)
{
	struct columns columns = { .has_job = COLS >= HAS_JOBS,
				   .has_level = COLS >= HAS_JOBS || !rows->are_of_stream,
				   .has_total = COLS >= HAS_TOTALS };
	int left = COLS - (7 + 2 + (columns.has_job ? 8 + 2 : 0) + 2 +
			   (columns.has_level ? 5 + 2 : 0) + TOP_EVENTS_WIDTH + 2 +
			   TOP_BYTES_WIDTH + 2 + TOP_LOST_WIDTH + (columns.has_total ? 2 + 12 : 0));
	int widest = (int)strlen("COMPONENT"), widest_host = (int)strlen("HOST");

	for (size_t i = 0; i < rows->count; i++) {
		widest = name_widen(widest, rows->items[i].component);
		widest_host = name_widen(widest_host, rows->items[i].host);
	}
	if (rows->are_of_stream) {
		columns_measure_stream(&columns, left, widest_host, widest);
		return columns;
	}
	columns.component = widest < left ? widest : left;
	if (left >= 40 && columns.component > left - 2 - LEAST_DESTS)
		columns.component = left - 2 - LEAST_DESTS;
	if (columns.component < (int)strlen("COMPONENT"))
		columns.component = (int)strlen("COMPONENT");
	columns.dests =
		left - columns.component - 2 >= LEAST_DESTS ? left - columns.component - 2 : 0;
	return columns;
}

static void draw_titles(const struct columns *columns)
{
	int y = 2, x = 0;

	(void)attron(A_REVERSE);
	if (y < LINES)
		(void)mvhline(y, 0, ' ', COLS);
	if (columns->host > 0)
		put_left(y, &x, columns->host, "HOST");
	put_right(y, &x, 7, "PID");
	if (columns->has_job)
		put_left(y, &x, 8, "JOBNAME");
	put_left(y, &x, columns->component, "COMPONENT");
	if (columns->has_level)
		put_left(y, &x, 5, "LEVEL");
	put_right(y, &x, TOP_EVENTS_WIDTH, "EVENTS/S");
	put_right(y, &x, TOP_BYTES_WIDTH, "BYTES/S");
	put_right(y, &x, TOP_LOST_WIDTH, "LOST/S");
	if (columns->has_total)
		put_right(y, &x, 12, "EVENTS");
	if (columns->dests > 0)
		put_left(y, &x, columns->dests, "DESTINATIONS");
	(void)attroff(A_REVERSE);
}

static void put_rate(int y, int *x, int width, double rate)
{
	char text[16];

	ct_top_number(text, rate);
	put_right(y, x, width, text);
}

static int level_pair(uint32_t level)
{
	return level == CTRACE_LEVEL_NONE ? 0
	       : level >= CTRACE_ERROR    ? PAIR_ERROR
	       : level == CTRACE_WARN     ? PAIR_WARN
					  : PAIR_GOOD;
}

static void draw_level(int y, int *x, const struct top_rows *rows, const struct top_row *row)
{
	(void)attron(COLOR_PAIR(level_pair(row->level)));
	put_left(y, x, 5, ct_top_level(rows, row));
	(void)attroff(COLOR_PAIR(level_pair(row->level)));
}

static void draw_row(int y, const struct top_rows *rows, const struct top_row *row,
		     const struct columns *columns, bool is_selected)
{
	char pid[16], total[24];
	int x = 0;

	(void)snprintf(pid, sizeof(pid), "%u", (unsigned)row->pid);
	(void)snprintf(total, sizeof(total), "%llu", (unsigned long long)row->total);
	if (is_selected) {
		(void)attron(A_STANDOUT);
		(void)mvhline(y, 0, ' ', COLS);
	}
	if (columns->host > 0)
		put_left(y, &x, columns->host, row->host);
	put_right(y, &x, 7, pid);
	if (columns->has_job)
		put_left(y, &x, 8, row->jobname);
	put_left(y, &x, columns->component, row->component);
	if (columns->has_level)
		draw_level(y, &x, rows, row);
	put_rate(y, &x, TOP_EVENTS_WIDTH, row->events);
	put_rate(y, &x, TOP_BYTES_WIDTH, row->bytes);
	put_rate(y, &x, TOP_LOST_WIDTH, row->lost);
	if (columns->has_total)
		put_right(y, &x, 12, total);
	if (columns->dests > 0)
		put_left(y, &x, columns->dests, row->dests[0] != '\0' ? row->dests : "-");
	(void)attroff(A_STANDOUT);
}

static const char *const help[] = {
	"d i w e f n  DEBUG INFO WARN ERROR FATAL NONE: level of",
	"             the selected component, in its process",
	"D I W E F N  in every process that has the component",
	"up, down, page up, page down, home, end: select",
	"< >          sort by the column before, or behind",
	"r            the other way round",
	"/            only what has a text in its name;",
	"             * and ? match; empty: everything",
	"b            only what is busy",
	"+ -          look less often, more often",
	"p            pause",
	"space        look now",
	"q            end",
	"",
	"LOST/S is of the process: it is not counted by component.",
};

static void draw_help(void)
{
	for (size_t i = 0; i < CT_COUNT(help) && (int)i + HEAD_LINES < LINES - FOOT_LINES; i++)
		(void)put_text((int)i + HEAD_LINES, 2, COLS - 2, help[i]);
}

static void draw_foot(void)
{
	if (LINES > HEAD_LINES)
		(void)put_text(
			LINES - 1, 0, COLS,
			COLS < WIDE
				? "d i w e f n level  < > sort  / filter  ? help  q end"
				: "d i w e f n level   < > sort   / filter   b busy   p pause   ? help   q end");
}

static size_t screen_page_size(void)
{
	int lines = LINES - HEAD_LINES - FOOT_LINES;

	return lines > 0 ? (size_t)lines : 1;
}

static void row_select(struct top_screen *screen, const struct top_rows *rows, size_t row)
{
	if (rows->count == 0) {
		screen->selected = 0;
		return;
	}
	screen->selected = row < rows->count ? row : rows->count - 1;
	screen->selected_row = rows->items[screen->selected];
}

static bool row_is_same(const struct top_row *a, const struct top_row *b)
{
	return a->pid == b->pid && a->start_ns == b->start_ns && strcmp(a->host, b->host) == 0 &&
	       strcmp(a->component, b->component) == 0;
}

/* Rows move as their rates change; the selection follows its row. */
static void row_find_selected(struct top_screen *screen, const struct top_rows *rows)
{
	size_t page = screen_page_size();

	for (size_t i = 0; i < rows->count && screen->selected_row.pid != 0; i++) {
		if (!row_is_same(&rows->items[i], &screen->selected_row))
			continue;
		screen->selected = i;
		break;
	}
	if (screen->selected_row.pid != 0 || rows->count <= screen->selected)
		row_select(screen, rows, screen->selected);
	if (screen->selected < screen->first)
		screen->first = screen->selected;
	if (screen->selected >= screen->first + page)
		screen->first = screen->selected - page + 1;
	if (screen->first + page > rows->count)
		screen->first = rows->count > page ? rows->count - page : 0;
}

void ct_top_screen_draw(struct top_screen *screen, const struct top_rows *rows)
{
	struct columns columns = columns_measure(rows);

	row_find_selected(screen, rows);
	(void)erase();
	draw_head(screen, rows);
	draw_message(screen);
	draw_titles(&columns);
	if (screen->has_help)
		draw_help();
	for (size_t i = 0;
	     i < screen_page_size() && screen->first + i < rows->count && !screen->has_help; i++)
		if ((int)i + HEAD_LINES < LINES)
			draw_row((int)i + HEAD_LINES, rows, &rows->items[screen->first + i],
				 &columns, screen->first + i == screen->selected);
	if (rows->count == 0 && !screen->has_help)
		(void)put_text(HEAD_LINES, 2, COLS,
			       rows->processes > 0   ? "nothing matches"
			       : rows->are_of_stream ? "nothing has come to the stream yet"
						     : "nothing is traced");
	draw_foot();
	(void)refresh();
}

/* -----------------------------------------------------------------------------------------------
 * Keys
 */

static enum top_wish key_type_pattern(struct top_screen *screen, int key)
{
	if (key == '\r' || key == '\n' || key == KEY_ENTER) {
		screen->is_typing = false;
	} else if (key == KEY_ESCAPE) {
		screen->is_typing = false;
		screen->pattern_size = 0;
	} else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
		screen->pattern_size -= screen->pattern_size > 0;
	} else if (key >= ' ' && key < 127 && screen->pattern_size + 1 < sizeof(screen->pattern)) {
		screen->pattern[screen->pattern_size++] = (char)key;
	}
	screen->pattern[screen->pattern_size] = '\0';
	return TOP_REDRAW;
}

static enum top_wish key_wish_level(struct top_screen *screen, int key)
{
	static const char keys[] = "diwefn";
	bool is_upper = key >= 'A' && key <= 'Z';
	const char *found = strchr(keys, is_upper ? key - 'A' + 'a' : key);

	if (key <= 0 || key > 127 || found == NULL)
		return TOP_NOTHING;
	screen->wanted_level = found - keys < (ptrdiff_t)CTRACE_LEVEL_COUNT
				       ? (uint32_t)(found - keys)
				       : CTRACE_LEVEL_NONE;
	return is_upper ? TOP_LEVEL_EVERYWHERE : TOP_LEVEL;
}

static void selection_move(struct top_screen *screen, const struct top_rows *rows, int key)
{
	size_t page = screen_page_size(), row = screen->selected;

	switch (key) {
	case KEY_UP:
		row -= row > 0;
		break;
	case KEY_DOWN:
		row++;
		break;
	case KEY_PPAGE:
		row = row > page ? row - page : 0;
		break;
	case KEY_NPAGE:
		row += page;
		break;
	case KEY_HOME:
		row = 0;
		break;
	default:
		row = rows->count;
	}
	row_select(screen, rows, row);
}

static enum top_wish key_understand(struct top_screen *screen, const struct top_rows *rows, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		return TOP_QUIT;
	case ' ':
		return TOP_REFRESH;
	case 'p':
		screen->is_paused = !screen->is_paused;
		return TOP_REDRAW;
	case '?':
	case 'h':
		screen->has_help = !screen->has_help;
		return TOP_REDRAW;
	case '/':
		screen->is_typing = true;
		return TOP_REDRAW;
	case 'b':
		screen->view.is_busy_only = !screen->view.is_busy_only;
		return TOP_REDRAW;
	case 'r':
		screen->view.is_reversed = !screen->view.is_reversed;
		return TOP_REDRAW;
	case '<':
	case '>':
		screen->view.sort = (enum top_sort)(
			((unsigned)screen->view.sort + (key == '>' ? 1u : TOP_SORT_COUNT - 1u)) %
			TOP_SORT_COUNT);
		return TOP_REDRAW;
	case '+':
		return TOP_SLOWER;
	case '-':
		return TOP_FASTER;
	case KEY_UP:
	case KEY_DOWN:
	case KEY_PPAGE:
	case KEY_NPAGE:
	case KEY_HOME:
	case KEY_END:
		selection_move(screen, rows, key);
		return TOP_REDRAW;
	case KEY_RESIZE:
		return TOP_REDRAW;
	case KEY_ESCAPE:
		screen->has_help = false;
		return TOP_REDRAW;
	default:
		return key_wish_level(screen, key);
	}
}

enum top_wish ct_top_screen_key(struct top_screen *screen, const struct top_rows *rows)
{
	int key = getch();

	if (key == ERR)
		return TOP_NOTHING;
	if (key != KEY_RESIZE)
		screen->message[0] = '\0';
	if (screen->is_typing && key != KEY_RESIZE)
		return key_type_pattern(screen, key);
	return key_understand(screen, rows, key);
}
