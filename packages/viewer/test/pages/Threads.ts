import { describe, expect, it } from "vitest"
import { goTo } from "../Browser.ts"
import { Conversation, recorded, result, type Sent, text, tool, user } from "../Conversation.ts"
import type { World } from "./World.ts"

/** A call of Gemini, whose parts have no ids. */
const gemini = (contents: ReadonlyArray<unknown>, parts: ReadonlyArray<unknown>) => ({
  api: "provider3-models",
  inputs: { model: "gemini-3-pro", contents },
  output: { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] }
})

const called = (file: string) => ({ functionCall: { name: "read_file", args: { file } } })
const answered = (found: string) => ({ functionResponse: { name: "read_file", response: { found } } })

export const define = (world: World) => {
  describe("tools and threads", () => {
    it("shows the answer of each tool beside its call, where calls have no ids", async () => {
      const { client } = world.server
      const first = [{ role: "user", parts: [{ text: "Read both" }] }]
      const calls = [called("june.md"), called("july.md")]
      const record = (call: Sent) => recorded(client, { fingerprint_id: world.fingerprintId, session: "gemini" }, call)
      await record(gemini(first, calls))
      const contents = [
        ...first,
        { role: "model", parts: calls },
        { role: "user", parts: [answered("white"), answered("quiet")] }
      ]
      const id = await record(gemini(contents, [{ text: "Done." }]))
      const lines = ['read_file june.md { "found": "white" }', 'read_file july.md { "found": "quiet" }']
      const { page } = await world.visit("#/nothing")
      for (const place of ["#/sessions/gemini", `#/events/${id}?tab=input`]) {
        await goTo(page, place)
        const tools = page.locator("details.tool > summary")
        await tools.nth(1).waitFor()
        const shown = (await tools.allInnerTexts()).map((line) => line.replace(/\s+/g, " ").replace(/ \d+ B$/, ""))
        expect([place, shown]).toEqual([place, lines])
      }
    })

    it("shows the calls of one thread alone, also in what is beside them", async () => {
      const { client } = world.server
      const one = new Conversation(client, world.fingerprintId, "two agents")
      const other = new Conversation(client, world.fingerprintId, "two agents")
      other.system = "Another agent"
      const ids: Array<string> = []
      for (const [conversation, name] of [
        [one, "one"],
        [other, "other"]
      ] as const) {
        ids.push(await conversation.call([user(`Question of ${name}`)], [tool("call_0", "read", { of: name })]))
      }
      for (const [conversation, name] of [
        [one, "one"],
        [other, "other"]
      ] as const) {
        ids.push(await conversation.call([result("call_0", `answer of ${name}`)], [text("Done ".repeat(500))]))
      }
      const { page } = await world.visit("#/sessions/two%20agents?thread=1")
      const line = page.locator("details.tool > summary")
      await line.waitFor()
      expect((await line.innerText()).replace(/\s+/g, " ")).toContain("read one answer of one")
      await expect.poll(() => page.locator(".strip .bar").count()).toBe(2)
      await page.locator(".strip .bar").nth(1).click()
      await page.waitForURL((url) => url.hash.includes(`call=${ids[2]}`) && url.hash.includes("thread=1"))
      // The questions were sent twice each.
      const sentAgain = () => page.locator(".side .costly small").allInnerTexts()
      expect(await sentAgain()).toEqual(["Question of one"])
      await page.getByLabel("Thread").selectOption("")
      await page.waitForURL((url) => !url.hash.includes("thread"))
      await expect.poll(async () => (await sentAgain()).length).toBe(2)
    })
  })
}
