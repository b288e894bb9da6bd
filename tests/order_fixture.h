/* One context and one problem builder for all tests of a program. */
#ifndef CALM_TESTS_ORDER_FIXTURE_H
#define CALM_TESTS_ORDER_FIXTURE_H

#include "context_fixture.h"
#include "order_cases.h"

static problem_builder builder;

#endif
