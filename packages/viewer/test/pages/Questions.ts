/** What is found in a session by looking, and the clicks that it takes from the list of sessions. */
import type { Locator } from "playwright-core"
import { describe, expect, it } from "vitest"
import { goTo } from "../Browser.ts"
import { Conversation, result, tool, user } from "../Conversation.ts"
import type { World } from "./World.ts"

const session = "a day at the lighthouse"

/** Twenty calls: each calls a tool and sends what it answered. Call 19 fails. */
const record = async (world: World) => {
  const { fingerprintId, server } = world
  const run = new Conversation(server.client, fingerprintId, session, { agent: "watchman", person: "ada" })
  run.tools = [{ name: "look", input_schema: { type: "object" } }]
  for (let call = 1; call <= 20; call++) {
    const seen = call === 5 ? "fog ".repeat(2_000) : `Ship ${call - 1} passes.`
    const message = call === 1 ? user("What do you see?") : result(`t${call - 1}`, seen)
    if (call === 19) await run.fail(message, "overloaded_error")
    else await run.call([message], [tool(`t${call}`, "look", { hour: call })])
  }
}

const clock = "a clock in the system message"

/** Calls in the format of chat completions, of which none is read from the cache. The second and the last have another system message. */
const recordClock = async ({ fingerprintId, server }: World) => {
  const said = [
    user("a"),
    { role: "assistant", content: "b" },
    user("c"),
    { role: "assistant", content: "d" },
    user("e"),
    { role: "assistant", content: "f" },
    user("g")
  ]
  for (const [index, time] of ["1 pm", "2 pm", "2 pm", "3 pm"].entries()) {
    const messages = [{ role: "system", content: `It is ${time}.` }, ...said.slice(0, 2 * index + 1)]
    const message = said[2 * index + 1] ?? { role: "assistant", content: "h" }
    const usage = { prompt_tokens: 9_000, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 0 } }
    const output = { choices: [{ index: 0, message, finish_reason: "stop" }], usage }
    const properties = { api: "provider1-chat-completions", inputs: { model: "gpt-5", messages }, output }
    const event = {
      event_name: "llm",
      fingerprint_id: fingerprintId,
      session: clock,
      agent: "clock",
      agent_version: "1",
      properties
    }
    expect((await server.client.post("/api/v1/events", event)).status).toBe(200)
  }
}

export const define = (world: World) => {
  describe("what is found by looking", () => {
    let recorded: Promise<void> | undefined
    let recordedClock: Promise<void> | undefined

    /** Opens the list of sessions. Returns how to click, and how often it was done. */
    const begin = async () => {
      await (recorded ??= record(world))
      const { page } = await world.visit("#/sessions")
      const clicks = { count: 0 }
      const click = async (target: Locator, options: Parameters<Locator["click"]>[0] = {}) => {
        await target.click(options)
        clicks.count++
      }
      const open = () => click(page.getByRole("row").filter({ hasText: session }).getByRole("link").first())
      return { click, clicks, open, page }
    }

    it("what did the tool answer in call 17: 3 clicks", async () => {
      const { click, clicks, open, page } = await begin()
      await open()
      await click(page.locator(".strip .bar").nth(16).locator(".hit"), { position: { x: 9, y: 50 } })
      await click(page.locator("details.tool summary", { hasText: "hour: 17" }))
      await page.locator(".fold").getByText("Ship 17 passes.", { exact: true }).waitFor()
      expect(clicks.count).toBe(3)
    })

    it("where instructions begin to differ that are messages, and what was sent too soon to have expired", async () => {
      const { page } = await begin()
      await (recordedClock ??= recordClock(world))
      await goTo(page, `#/sessions/${encodeURIComponent(clock)}`)
      const misses = page.locator(".side li")
      await misses.filter({ hasText: "Call 2" }).getByText("the instructions changed").waitFor()
      await misses.filter({ hasText: "Call 3" }).getByText("no settings changed: why is not known").waitFor()
      await misses.filter({ hasText: "Call 2" }).getByRole("link").click()
      await page.locator(".side").getByText("The instructions changed at character 7 of 11: everything").waitFor()
    })

    it("which line a client changed where nothing else explains a miss", async () => {
      const { fingerprintId: fingerprint_id, server } = world
      const name = "a client's line"
      const usage = { input_tokens: 9_000, output_tokens: 5, cache_read_input_tokens: 0 }
      const ids: Array<string> = []
      for (const [index, hash] of ["aaa", "aab"].entries()) {
        const system = `x-anthropic-billing-header: cch=${hash};\nBe short.`
        const messages = [user("a"), { role: "assistant", content: "b" }, user("c")].slice(0, 2 * index + 1)
        const output = { model: "m", content: [{ type: "text", text: "b" }], usage }
        const properties = { api: "provider2-messages", inputs: { model: "m", system, messages }, output }
        const event = {
          event_name: "llm",
          fingerprint_id,
          session: name,
          agent: "line",
          agent_version: "1",
          properties
        }
        const { body, status } = await server.client.post("/api/v1/events", event)
        expect(status).toBe(200)
        ids.push(body.event_id)
      }
      const { page } = await world.visit(`#/sessions/${encodeURIComponent(name)}`)
      await page.locator(".side li").filter({ hasText: "no settings changed" }).getByRole("link").click()
      await page.locator(".side").getByText("changed a line of its instructions, at character 35:").waitFor()
      // It is no difference of the calls.
      await goTo(page, `#/diff/calls?a=${ids[0]}&b=${ids[1]}`)
      const settings = page.locator(".settings section").filter({ hasText: "Instructions" })
      await settings.getByText("The same in both.").waitFor()
    })

    it("which instructions differ from call to call in one place", async () => {
      await (recordedClock ??= recordClock(world))
      const { page } = await world.visit("#/agents/clock?version=1")
      const prompts = page.locator(".prompts.instructions tbody tr")
      await prompts.getByText("3 variants, which differ at character 7 only").waitFor()
      expect(await prompts.count()).toBe(1)
      const summary = page.locator("details.configuration summary")
      expect((await summary.innerText()).replace(/\s+/g, " ")).toMatch(
        /^gpt-5 4 calls .* 3 variants at character 7 It is 3 pm\.$/
      )
      await summary.click()
      const shown = (await page.locator(".configuration li").allInnerTexts()).map((line) => line.trim())
      expect(shown).toEqual(["3 1 call", "2 2 calls", "1 1 call"])
    })

    it("which message costs most: 1 click", async () => {
      const { clicks, open, page } = await begin()
      await open()
      const most = page.locator(".side section").filter({ hasText: "Sent again most" }).locator("li").first()
      expect(await most.innerText()).toMatch(/^#9 8\.\d kB × 16 = 1[23]\d kB, \d\d%\s+fog fog/)
      expect(clicks.count).toBe(1)
    })

    it("where did it go wrong: 2 clicks", async () => {
      const { click, clicks, open, page } = await begin()
      await open()
      await click(page.getByRole("button", { name: "1 failed" }))
      await page.locator(".row.selected").getByText("Failed: overloaded_error").waitFor()
      await page.locator(".row.selected").getByText("Call 19").waitFor()
      expect(clicks.count).toBe(2)
    })
  })
}
