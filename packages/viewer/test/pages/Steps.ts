import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { goTo } from "../Browser.ts"
import * as Spans from "../Spans.ts"
import type { World } from "./World.ts"

const lines = async (page: Page, selector: string): Promise<ReadonlyArray<string>> =>
  (await page.locator(selector).allInnerTexts()).map((line) => line.replace(/\s+/g, " ").trim())

/** Each line of the timeline, after its depth. */
const tree = (page: Page) =>
  page.locator(".timeline :is(.trace, .span-line)").evaluateAll((rows) =>
    rows.map((row) => {
      const name = row.querySelector<HTMLElement>(".span-name")
      const depth = /\d+/.exec(name?.style.paddingInlineStart ?? "")?.[0] ?? "–"
      return `${depth} ${(name ?? row.querySelector("code")!).innerText.replace(/\s+/g, " ").trim()}`
    })
  )

const asked = (page: Page) => {
  const steps: Array<string> = []
  page.on("request", (request) => {
    if (request.url().includes("/steps")) steps.push(new URL(request.url()).search.replace(/cursor=[^&]+/, "cursor"))
  })
  return steps
}

export const define = (world: World) => {
  describe("steps", () => {
    it("say how long tools took, which failed, and what only they tell of an answer", async () => {
      const { page } = await world.visit("#/sessions/traced")
      await page.getByText("230 ms").waitFor()
      expect(await lines(page, "details.tool > summary")).toEqual([
        'tide_table Oslo { "low": "06:14" } from its span 20 B 230 ms',
        "forecast port: Oslo days: 1 failed no forecast 11 B 2.0 s",
        "tide_table Bergen 05:58 from its span 5 B 15 ms"
      ])
      await page.locator("details.tool > summary").nth(1).click()
      await page.locator(".fold").getByText("The forecast took too long").waitFor()
      await page.keyboard.press("Control+f")
      await page.getByRole("textbox", { name: "Find in this page" }).fill("05:58")
      await expect.poll(() => page.locator(".find output").innerText()).toBe("1 of 1")
      await page.getByText("No message is known to answer").waitFor()
      await page.keyboard.press("Escape")
    })

    it("say of each call that it was rebuilt, of what, and what is missing", async () => {
      const { page } = await world.visit("#/sessions/traced")
      const words = page.locator(".call-mark .rebuilt")
      await words.nth(2).waitFor()
      expect(await words.nth(1).getAttribute("title")).toBe(
        "Put together from what OpenTelemetry told; not the bytes of the wire.\nScope: gen_ai 1\nSpan: chat gpt-5-mini\nService: harbour\nDropped: 3 attributes by its SDK"
      )
      await page.locator(".call-number").nth(1).click()
      await page.locator(".event-head").getByText("not the bytes of the wire").waitFor()
      const facts = page.getByRole("complementary", { name: "Facts of the call" })
      for (const fact of ["gen_ai 1", "harbour", "3 attributes by its SDK"]) {
        await facts.getByText(fact, { exact: true }).first().waitFor()
      }
      await goTo(page, `${world.sessionPlace}`)
      await page.getByText("4 calls").waitFor()
      expect(await page.locator(".rebuilt").count()).toBe(0)
    })

    it("say of which of its texts a call has the bytes", async () => {
      const request = { model: "gpt-5-mini", messages: [{ role: "user", content: "Hello" }], stream: true }
      const attributes = {
        "openinference.span.kind": "LLM",
        "llm.invocation_parameters": '{"model":"gpt-5-mini","stream":true}',
        "input.value": JSON.stringify(request),
        "input.mime_type": "application/json",
        "output.value": "Good morning."
      }
      const call = { trace: 4, id: 1, name: "OpenAI Chat Completions", at: [0, 5], attributes } as const
      const scope = "@arizeai/openinference-instrumentation-openai"
      await Spans.told(world.server.client, "partly verbatim", [call], { scope, service: "harbour" })
      const { page } = await world.visit("#/sessions/partly%20verbatim")
      await page.locator(".call-number").click()
      const said =
        "Rebuilt The inputs are verbatim. The output was put together from what OpenTelemetry told; not the bytes of the wire."
      await expect.poll(() => page.locator(".event-head .hint").innerText()).toBe(said)
    })

    it("are a tree for each trace, with the calls", async () => {
      const { page } = await world.visit("#/sessions/traced")
      await page.getByRole("button", { name: "Timeline" }).click()
      await page.waitForURL((url) => url.hash === "#/sessions/traced?view=timeline")
      await page.locator(".span-line").first().waitFor()
      expect(await tree(page)).toEqual([
        `– ${Spans.traceId(1)}`,
        "0 agent invoke_agent desk",
        "1 call Call 1 gpt-5-mini rebuilt",
        "1 tool execute_tool forecast failed",
        "1 tool execute_tool tide_table",
        "1 call Call 2 gpt-5-mini rebuilt",
        `– ${Spans.traceId(2)}`,
        "0 agent invoke_agent desk",
        "1 call Call 3 gpt-5-mini rebuilt",
        "1 tool tide_table"
      ])
      const bar = await page
        .locator(".track .bar")
        .nth(3)
        .evaluate((bar) => {
          const track = bar.parentElement!.getBoundingClientRect()
          const { left, width } = bar.getBoundingClientRect()
          return [(left - track.left) / track.width, width / track.width].map((part) => part.toFixed(2))
        })
      expect(bar).toEqual([(410 / 3_000).toFixed(2), (230 / 3_000).toFixed(2)])
    })

    it("are reached and opened by keys, with their attributes, and go back to the conversation", async () => {
      const { page } = await world.visit("#/sessions/traced?view=timeline")
      await page.locator(".span-line").first().waitFor()
      await page.keyboard.press("n")
      await page.keyboard.press("n")
      await page.locator(".timeline .selected").getByText("Call 2").waitFor()
      await page.locator("summary.span-line").filter({ hasText: "forecast" }).focus()
      await page.keyboard.press("Enter")
      const open = page.locator(".timeline .fold")
      for (const shown of ["The forecast took too long", "A line of a log.", "timeout"]) {
        await open.getByText(shown).first().waitFor()
      }
      expect(await lines(page, ".timeline .facts > div")).toContain("Cut at the end app.log")
      await page.keyboard.press("Tab")
      await page.keyboard.press("/")
      await page.getByRole("textbox", { name: "Find in this page" }).fill("TIDE")
      await expect.poll(() => page.locator(".find output").innerText()).toBe("1 of 2")
      await page.keyboard.press("Escape")
      await page.keyboard.press("s")
      await page.getByRole("feed", { name: "The conversation" }).waitFor()
    })

    it("are read page by page, and again when calls come; sessions without any are asked about once", async () => {
      const { client } = world.server
      const call = (id: number, at: number): Spans.Told => ({
        ...{ trace: 3, id, parent: 1, name: "chat", at: [at, at + 5] },
        attributes: Spans.chat([Spans.says("user", Spans.text(`Question ${id}`))], Spans.says("assistant"))
      })
      const steps = Array.from({ length: 150 }, (_, index): Spans.Told => ({
        ...{ trace: 3, id: index + 100, parent: 1, name: `lookup ${index}`, at: [index + 10, index + 12] },
        attributes: Spans.ran("lookup", `id ${index}`)
      }))
      const root: Spans.Told = { trace: 3, id: 1, name: "root", at: [0, 500], attributes: Spans.agent }
      await Spans.told(client, "many steps", [root, call(2, 1), ...steps])
      const { page } = await world.visit("#/nothing")
      const requests = asked(page)
      await goTo(page, "#/sessions/many%20steps?view=timeline")
      await page.getByText("1 call, 151 steps").waitFor()
      expect(requests).toEqual(["?limit=100", "?cursor&limit=1000"])
      await Spans.told(client, "many steps", [
        call(3, 300),
        { ...steps[0]!, id: 400, at: [310, 312], name: "the last" }
      ])
      await page.getByText("2 calls, 152 steps").waitFor()
      requests.length = 0
      await goTo(page, world.sessionPlace)
      await page.getByText("4 calls").waitFor()
      await expect.poll(() => requests.length).toBe(1)
      await page.keyboard.press("v")
      await page.locator(".calls-table").waitFor()
      expect(requests).toEqual(["?limit=100"])
      expect(await page.getByRole("button", { name: "Timeline" }).count()).toBe(0)
    })
  })
}
