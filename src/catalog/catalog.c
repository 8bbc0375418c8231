/*
 * catalog.c - catalogues.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog.h"

enum ctrace_status ct_catalog_create(struct ct_catalog **out_catalog) { (void)out_catalog; return CTRACE_UNSUPPORTED; }
void ct_catalog_destroy(struct ct_catalog *catalog) { (void)catalog; }
enum ctrace_status ct_catalog_add(struct ct_catalog *catalog, const char *path, ct_catalog_complain *complain, void *user) { (void)catalog; (void)path; (void)complain; (void)user; return CTRACE_UNSUPPORTED; }
enum ctrace_status ct_catalog_parse(struct ct_catalog *catalog, const char *path, const char *text, size_t size, ct_catalog_complain *complain, void *user) { (void)catalog; (void)path; (void)text; (void)size; (void)complain; (void)user; return CTRACE_UNSUPPORTED; }
enum ctrace_status ct_catalog_add_environment(struct ct_catalog *catalog, ct_catalog_complain *complain, void *user) { (void)catalog; (void)complain; (void)user; return CTRACE_OK; }
const struct ct_catalog_component *ct_catalog_component(const struct ct_catalog *catalog, const char *name, size_t size) { (void)catalog; (void)name; (void)size; return NULL; }
const struct ct_event_type *ct_catalog_event(const struct ct_catalog_component *component, uint32_t event_id) { (void)component; (void)event_id; return NULL; }
const struct ct_catalog_component *ct_catalog_at(const struct ct_catalog *catalog, size_t index) { (void)catalog; (void)index; return NULL; }
