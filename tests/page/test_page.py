"""The page that calm makes of its results, opened in a browser."""
import json
import random

import pytest

import documents
from documents import HOSTILE


def texts(page, where):
    return page.locator(where).all_text_contents()


def column(page, label, at):
    """The cells in sight of one column of a table."""
    return texts(page, f"table[aria-label='{label}'] tbody tr:not(.empty) td:nth-child({at})")


def head(page, label, title):
    return page.locator(f"table[aria-label='{label}'] thead").get_by_role(
        "button", name=title, exact=True)


def tip(page):
    return page.locator(".tip.shown")


def test_tiles_have_the_figures(show):
    plan = documents.plan()
    page = show(plan)
    tiles = "\n".join(texts(page, "article > .tiles .tile"))
    for figure in (plan["baseline"]["arena_bytes"], plan["layout"]["arena_bytes"],
                   plan["order"]["peak_bytes"], plan["baseline"]["peak_bytes"]):
        assert f"{figure:,} B" in tiles
    assert "proved optimal" in tiles
    assert "19.6 %" in tiles  # 2000 of 10192 bytes


def test_sections_of_a_plan(show):
    plan = documents.plan()
    page = show(("plan.json", plan, [documents.drawing(plan)]))
    for part in ("steps", "arena", "graph", "rewrite", "operators", "tensors", "source"):
        assert page.locator(f"#d1-{part}").count() == 1
    assert "planned peak 8 KiB" in page.locator("#d1-steps .chart").text_content()
    assert "--rewrite" in page.locator("#d1-source").inner_text()


def test_drawing(show):
    plan = documents.plan()
    page = show(("plan.json", plan, [documents.drawing(plan)]))
    assert page.locator(".graph .node").count() == 2
    assert page.locator(".graph .node-focus").get_attribute("aria-label") == "first, conv2d"
    assert texts(page, ".graph .edge-label") == ["4 KiB"]
    page.locator(".graph .node").nth(1).focus()
    assert "out of first" in tip(page).inner_text()


def test_several_sites_can_be_chosen(show):
    plan = documents.plan()
    sites = [{**documents.drawing(plan), "kind": "site", "site": "s", "graph": graph,
              "title": f"{graph} s"} for graph in ("plan", "original")]
    page = show(("plan.json", plan, [documents.drawing(plan), *sites]))
    page.locator("#d1-graph select").select_option(label="s")
    assert texts(page, ".drawing figcaption") == ["original s", "plan s"]


def test_sort(show):
    page = show(documents.plan())
    head(page, "Tensors", "Bytes").click()
    figures = [int(one.replace(",", "")) for one in column(page, "Tensors", 5)]
    assert figures == sorted(figures, reverse=True) and len(figures) == 5
    head(page, "Tensors", "Bytes").click()
    assert column(page, "Tensors", 5)[0] == "16"
    assert page.locator("table[aria-label='Tensors'] th[aria-sort='ascending']").count() == 1


def test_search(show):
    page = show(documents.plan([f"op{at}" for at in range(40)], [1000] * 40))
    page.get_by_label("Search in: Operators in the new order").fill("OP7")
    assert column(page, "Operators in the new order", 2) == ["op7"]
    assert "1 of 40 rows" in page.locator("#d1-operators").inner_text()
    page.get_by_label("Search in: Operators in the new order").fill("nothing like it")
    assert column(page, "Operators in the new order", 2) == []


def test_steps_by_keyboard(show):
    page = show(documents.plan())
    chart = page.locator("#d1-steps svg[role=application]")
    chart.focus()
    page.keyboard.press("Home")
    assert "Step 0" in tip(page).inner_text() and "8,192 B" in tip(page).inner_text()
    page.keyboard.press("ArrowRight")
    assert "Step 1" in tip(page).inner_text() and "second" in tip(page).inner_text()
    page.keyboard.press("p")
    assert "Step 0" in tip(page).inner_text()
    page.keyboard.press("Escape")
    assert tip(page).count() == 0


def test_steps_by_pointer(show):
    page = show(documents.plan())
    page.locator("#d1-steps svg[role=application]").hover()
    assert "Step 1" in tip(page).inner_text() and "order of the file" in tip(page).inner_text()


def test_arena_by_keyboard(show):
    page = show(documents.plan())
    page.locator("#d1-arena canvas").first.focus()
    page.keyboard.press("ArrowRight")
    said = tip(page).inner_text()
    assert "in of first" in said and "4,096 B" in said and "u8 1 × 4096" in said
    assert "read by" in said and "first" in said
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    assert "out of" in tip(page).inner_text()
    page.keyboard.press("0")


def test_arena_by_pointer(show):
    page = show(documents.plan())
    canvas = page.locator("#d1-arena canvas").first
    box = canvas.bounding_box()
    canvas.hover(position={"x": box["width"] * 0.25, "y": box["height"] * 0.8})
    assert "in of first" in tip(page).inner_text()
    before = page.evaluate("document.querySelector('#d1-arena canvas').toDataURL()")
    canvas.click()
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(100)
    assert before != page.evaluate("document.querySelector('#d1-arena canvas').toDataURL()")
    page.get_by_role("button", name="Show the whole arena").click()
    assert before == page.evaluate("document.querySelector('#d1-arena canvas').toDataURL()")


def test_hostile_names_are_text(show):
    plan = documents.plan(HOSTILE, [100] * len(HOSTILE), HOSTILE[0])
    page = show((HOSTILE[1], plan, [documents.drawing(plan)]))
    assert page.locator("main img, main script").count() == 0
    assert HOSTILE[0] in column(page, "Operators in the new order", 2)
    page.locator("#d1-steps svg[role=application]").focus()
    page.keyboard.press("Home")
    assert HOSTILE[0] in tip(page).inner_text()


def test_ten_thousand_tensors(show):
    page = show(documents.big_plan())
    assert page.locator("table[aria-label='Tensors'] tbody tr").count() < 100
    rows = page.locator("#d1-tensors .rows")
    rows.evaluate("node => { node.scrollTop = node.scrollHeight }")
    page.locator("table[aria-label='Tensors'] td", has_text="out of op9999").first.wait_for()
    head(page, "Tensors", "Bytes").click()
    took = page.evaluate("""() => {
      const canvas = document.querySelector('#d1-arena canvas');
      canvas.focus();
      const start = performance.now();
      for (let at = 0; at < 20; at++) {
        canvas.dispatchEvent(new KeyboardEvent('keydown', {key: at % 2 ? '-' : '+'}));
        canvas.dispatchEvent(
          new PointerEvent("pointermove", {clientX: 300 + at, clientY: 400}));
      }
      return (performance.now() - start) / 20;
    }""")
    assert took < 250  # milliseconds to draw all anew, on a slow machine


def test_dark(show):
    def ground(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = ground(show(documents.plan()))
    page = show(documents.plan(), color_scheme="dark")
    assert ground(page) != light
    page.get_by_role("button", name="Change between light and dark").click()
    assert ground(page) == light


def test_print(show):
    page = show(documents.plan([f"op{at}" for at in range(300)], [1000] * 300),
                color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert page.locator("table[aria-label='Tensors'] tbody tr").count() == 201
    assert "102 more rows are not printed" in page.locator("#d1-tensors").inner_text()
    assert page.pdf()[:5] == b"%PDF-"
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("table[aria-label='Tensors'] tbody tr").count() < 100


@pytest.mark.parametrize("make", [documents.plan, documents.sweep])
def test_narrow(show, make):
    page = show(make(), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_focus_order(show):
    page = show(documents.plan())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the contents"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "page"
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.getAttribute('role')"))
    assert "application" in seen and "region" in seen


def test_download(show):
    page = show(("some/plan.json", documents.plan(), []))
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download").click()
    assert waiting.value.suggested_filename == "plan.json"
    with open(waiting.value.path(), encoding="utf-8") as file:
        assert json.load(file) == documents.plan()


def test_plans_compared(show):
    page = show(documents.plan(), documents.plan(sizes=(512, 256, 128)))
    assert column(page, "Plans compared", 1) == ["small.cg (0.json)", "small.cg (1.json)"]
    assert page.locator("#compare-steps .legend li").count() == 2
    first = page.locator("main > *").first
    assert "comparison" in first.get_attribute("class")


def test_sweep(show):
    page = show(documents.sweep())
    tiles = texts(page, "article > .tiles .tile")
    assert [one[len(name):][:1] for one, name in zip(tiles, ("Points", "Done", "Failed"))
            ] == ["8", "7", "1"]
    failed = page.locator("table[aria-label='Points'] tr", has_text="failed")
    assert "the buffer is too small" in failed.inner_text()
    page.locator("#d1-front svg[role=application]").focus()
    page.keyboard.press("End")
    assert "KiB" in tip(page).inner_text() and "left" in tip(page).inner_text()


@pytest.mark.parametrize("schema", ["plan", "map", "eval", "inspect", "check", "pack", "sweep",
                                    "eval-difference", "bench",
                                    "of-tomorrow"])
def test_missing_fields(show, schema):
    """A document of which nothing is known but its kind."""
    page = show({"schema": f"calm/{schema}/1"})
    assert page.locator("#d1").count() == 1


@pytest.mark.parametrize("seed", range(4))
def test_damaged_documents(show, seed):
    """What is not as it should be is left out or told; the rest is there.  Drawings are
    the library's own, and whole."""
    chance = random.Random(seed)
    plan = documents.plan()
    damaged = [("p.json", documents.damaged(plan, chance),
                [documents.drawing(plan)]) for _ in range(12)]
    damaged += [("s.json", documents.damaged(documents.sweep(), chance), []) for _ in range(6)]
    page = show(*damaged, whole=False)
    assert page.locator("article").count() == 18
    for chart in page.locator("[role=application]").all()[:12]:
        chart.focus()
        page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Change between light and dark").click()


def test_tool_swiftnet(show, calm):
    plan = json.loads(calm("plan", "examples/swiftnet.cg", "--rewrite", "auto", "--json", "-q"))
    page = show(plan)
    tiles = "\n".join(texts(page, "article > .tiles .tile"))
    assert f"{plan['layout']['arena_bytes']:,} B" in tiles
    assert page.locator("#d1-arena canvas").count() == 2


def test_tool_map(show, calm):
    report = json.loads(calm(
        "map", "--arch", "examples/simba-like.yaml", "--constraints",
        "examples/simba-like-keep.yaml", "--problem", "examples/resnet50-3x3-56.yaml",
        "--json", "-q"))
    page = show(report)
    nest = page.locator("div.nest").inner_text()
    assert "parallel K in 2 (X)" in nest and nest.index("DRAM") < nest.index("WeightRegister")
    assert page.locator("#d1-layer .bars").count() == 3


def test_tool_resnet(show, calm, cases):
    report = json.loads(calm(
        "map", "--arch", "examples/simba-like.yaml", "--constraints",
        "examples/simba-like-keep.yaml", cases / "models/onnx_light_resnet50.onnx",
        "--json", "-q"))
    page = show(report)
    names = column(page, "Layers", 1)
    page.get_by_role("button", name=names[1], exact=True).click()
    assert names[1] in page.locator("#d1-layer .layer-name").inner_text()
    assert page.locator("tr[aria-selected=true]").count() == 1


def test_tool_eval_and_inspect(show, calm):
    cost = json.loads(calm(
        "eval", "--arch", "examples/simba-like.yaml", "--problem",
        "examples/resnet50-3x3-56.yaml", "--mapping", "examples/mapping.yaml", "--json"))
    network = json.loads(calm("inspect", "examples/swiftnet.cg", "--json", "-q"))
    page = show(cost, network)
    assert f"{cost['cycles']:,} cycles" in page.locator("#d1-nest").inner_text()
    assert f"{network['peak_bytes']:,} B" in page.locator("#d2 > .tiles").inner_text()


def test_tensor_is_found_in_the_arena(show):
    page = show(documents.plan())
    page.get_by_role("button", name="out of second", exact=True).click()
    assert "out of second" in tip(page).inner_text()
    assert page.locator("#d1-tensors tr[aria-selected=true]").count() == 1


def test_tool_makes_the_page(show, calm, tmp_path):
    """What the library puts together is what these tests put together."""
    one, two, both = (tmp_path / name for name in ("one.json", "two.json", "both.html"))
    for file, options in ((one, ["--rewrite", "auto"]), (two, ["--order", "file"])):
        file.write_text(calm("plan", "examples/swiftnet.cg", "--json", "-q", *options))
    calm("report", one, two, "-o", both, "--title", "What <b>rewriting</b> bought")
    page = show(file=both)
    assert page.locator("h1").inner_text() == "What <b>rewriting</b> bought"
    assert page.locator("table[aria-label='Plans compared'] tbody tr:not(.empty)").count() == 2


def test_tool_makes_pages_of_sweeps(show, calm, tmp_path):
    page_file = tmp_path / "sweep.html"
    calm("sweep", "examples/sweep.yaml", "--database", tmp_path / "sweep.db",
         "--export", "html", "-o", page_file, "-q")
    page = show(file=page_file)
    assert page.locator("table[aria-label='Designs'] tbody tr:not(.empty)").count() == 9
    assert "GlobalBuffer.entries" in page.locator("#d1-designs thead").inner_text()


def test_tool_difference_and_front(show, calm):
    machine = ["--arch", "examples/simba-like.yaml", "--problem", "examples/resnet50-3x3-56.yaml",
               "--json", "-q"]
    both = json.loads(calm("eval", *machine, "--mapping", "examples/mapping.yaml",
                           "--mapping", "examples/mapping-weights.yaml"))
    front = json.loads(calm("map", *machine, "--objective", "pareto", "--constraints",
                            "examples/simba-like-keep.yaml"))
    page = show(both, front)
    assert f"{-both['difference']['cycles']:,}" in page.locator("#d1 > .tiles").inner_text()
    assert page.locator("#d1 .bars").count() == 6
    rows = page.locator("table[aria-label='Nests of the front'] tbody tr:not(.empty)")
    assert rows.count() == len(front["layers"][0]["front"])


def test_arena_before(show):
    plan = documents.plan()
    plan["baseline"]["buffers"] = [{"name": "in of first", "offset": 0, "bytes": 9000,
                                    "first": 0, "last": 2}]
    page = show(plan)
    page.locator("#d1-arena select").select_option(label="the arena before")
    page.locator("#d1-arena canvas").first.focus()
    page.keyboard.press("ArrowRight")
    assert "9,000 B" in tip(page).inner_text()


def test_tool_paper(show, calm):
    report = json.loads(calm("bench", "serenity", "--only", "table1", "--json", "-q"))
    page = show(report)
    first = report["sections"][0]["tables"][0]
    rows = page.locator(f"table[aria-label='{first['title']}'] tbody tr:not(.empty)")
    assert rows.count() == len(first["rows"])
