/*
 * peer_spdlog.cpp - spdlog as a measured tracer: its asynchronous logger with one thread, which formats and writes text.
 *
 * A full queue waits (policy=block), or loses its oldest (policy=discard), which spdlog counts.  It has no way to wait until the
 * queue is empty but to end the thread: `finish` does that, and nothing may be recorded after it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "workload.h"

#include <memory>
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <string>
#include <string.h>
#include <time.h>

#define QUEUE_EVENTS 8192u

static std::shared_ptr<spdlog::details::thread_pool> pool;
static std::shared_ptr<spdlog::async_logger> logger;
static uint64_t lost;

static void BENCH_NOINLINE batch_a(uint32_t count)
{
	BENCH_LOOP(i, count)
	logger->info("A {} {}", i, spdlog::string_view_t(bench_text(i), BENCH_A_TEXT));
}

static void BENCH_NOINLINE batch_b(uint32_t count)
{
	BENCH_LOOP(i, count)
	logger->info("B {} {} {} {}", i, bench_wide(i), bench_delta(i), spdlog::string_view_t(bench_text(i), BENCH_B_TEXT));
}

static void BENCH_NOINLINE batch_off(uint32_t count)
{
	BENCH_LOOP(i, count)
	logger->debug("A {} {}", i, spdlog::string_view_t(bench_text(i), BENCH_A_TEXT));
}

static void spdlog_prepare(const struct bench_setup *setup)
{
	bool blocks = strcmp(setup->policy, "block") == 0;
	auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(std::string(setup->directory) + "/spdlog.log", true);

	pool = std::make_shared<spdlog::details::thread_pool>(setup->ring_bytes != 0 ? setup->ring_bytes / 64 : QUEUE_EVENTS, 1);
	logger = std::make_shared<spdlog::async_logger>(
		"bench", sink, pool, blocks ? spdlog::async_overflow_policy::block : spdlog::async_overflow_policy::overrun_oldest);
}

static void spdlog_drain(void)
{
	const struct timespec pause = { 0, 100000 };

	while (pool->queue_size() > 0)
		(void)nanosleep(&pause, NULL);
}

static void spdlog_finish(void)
{
	if (pool == nullptr)
		return;
	logger->flush();
	lost = pool->overrun_counter();
	logger.reset();
	pool.reset(); /* joins the thread, which has taken everything by then */
}

static uint64_t spdlog_delivered(uint64_t made)
{
	return made - lost;
}

static const struct bench_case cases[] = {
	{ "a", batch_a, true },
	{ "b", batch_b, true },
	{ "off", batch_off, false },
};

extern "C" const struct bench_peer bench_peer = {
	"spdlog", cases, sizeof(cases) / sizeof(cases[0]), spdlog_prepare, nullptr, spdlog_drain, spdlog_finish, spdlog_delivered,
};
