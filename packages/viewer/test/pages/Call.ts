import { describe, expect, it, onTestFinished } from "vitest"
import { problemsOf } from "../Accessibility.ts"
import { Conversation, recorded, registered, text, user } from "../Conversation.ts"
import { start } from "../Server.ts"
import type { World } from "./World.ts"

export const define = (world: World) => {
  describe("a call", () => {
    it("shows the exact bytes, with their digest", async () => {
      const { page } = await world.visit(`#/events/${world.ids[0]}?tab=raw`)
      const inputs = await world.server.client.get(`/api/v1/events/${world.ids[0]}/inputs`)
      await page.locator(".raw-row").first().waitFor()
      const rows = await page.locator(".raw-row").allInnerTexts()
      expect(rows.join("")).toBe(inputs.text)
      const digest = Buffer.from(/:(.+):/.exec(inputs.headers.get("repr-digest")!)![1]!, "base64").toString("hex")
      expect(await page.locator(".digest code").innerText()).toBe(digest)
    })

    it("goes to its neighbours and back to the session by keys", async () => {
      const { page } = await world.visit(`#/events/${world.ids[1]}`)
      await page.getByText("Answer of a tool").waitFor()
      await page.keyboard.press("n")
      await page.waitForURL((url) => url.hash.includes(world.ids[2]!))
      await page.getByText("And in July?").waitFor()
      await page.keyboard.press("p")
      await page.waitForURL((url) => url.hash.includes(world.ids[1]!))
      await page.getByText("Answer of a tool").waitFor()
      await page.keyboard.press("f")
      await page.waitForURL(/tab=input/)
    })

    it("shows a call that took place long before it was recorded", async () => {
      const fields = {
        fingerprint_id: world.fingerprintId,
        session: "a late call",
        occurred_at: "2020-02-29T12:00:00Z"
      }
      const inputs = { model: "m", max_tokens: 10, messages: [user("What was it like in 2020?")] }
      const id = await recorded(world.server.client, fields, { api: "provider2-messages", inputs, output: {} })
      const { page } = await world.visit(`#/events/${id}`)
      await page.getByText("What was it like in 2020?").waitFor()
    })

    it("says why it failed, in the words of the provider, and how many parts were masked", async () => {
      const session = "an error with words"
      const fields = { fingerprint_id: world.fingerprintId, session, recorded: { redacted: 2 } }
      const inputs = { model: "m", max_tokens: 10, messages: [user("Are you there?")] }
      const output = { type: "error", error: { type: "overloaded_error", message: "Busy, please retry" } }
      const id = await recorded(world.server.client, fields, { api: "provider2-messages", inputs, output })
      const { page } = await world.visit(`#/events/${id}`)
      await page.getByRole("tabpanel").getByText("Busy, please retry").waitFor()
      await page.getByText("2 parts").waitFor()
      await page.getByRole("tab", { name: "Answer" }).click()
      await page.getByRole("tabpanel").getByText("Busy, please retry").waitFor()
      expect(await problemsOf(page)).toEqual([])
    })

    it("shows what the answer says that it cost beside the price list, and what that leaves out", async () => {
      const fields = { fingerprint_id: world.fingerprintId, session: "a cost that is stated" }
      const usage = { prompt_tokens: 100, completion_tokens: 50, cost: 0.02075 }
      const inputs = { model: "openai/gpt-4o:online", messages: [user("What is new?")] }
      const output = { id: "gen-1", model: inputs.model, choices: [], usage }
      const id = await recorded(world.server.client, fields, { api: "provider1-chat-completions", inputs, output })
      const { page } = await world.visit(`#/events/${id}`)
      const facts = page.locator("dl.facts")
      await facts.getByText("By the list").waitFor()
      const shown = await facts.innerText()
      expect(shown).toMatch(/Cost\s+\$0\.02 as the answer says\s+By the list\s+\$0\.00075/)
      expect(shown).toMatch(/Without\s+searches of the web/)
    })

    it("is found, with its neighbours, where it was imported after later ones", async () => {
      const session = "imported late"
      const { client } = world.server
      const from = await start()
      onTestFinished(() => from.close())
      const older = new Conversation(from.client, await registered(from.client), session)
      const id = await older.call([user("Which came first?")], [text("This one")])
      const exported = (await from.client.get("/api/v1/export")).text
      const newer = new Conversation(client, world.fingerprintId, session)
      const first = await newer.call([user("What came next?")], [text("That one")])
      const ndjson = { "content-type": "application/x-ndjson" }
      expect((await client.call("POST", "/api/v1/import", exported, ndjson)).status).toBe(200)
      const { page } = await world.visit(`#/events/${id}`)
      await page.getByText("Which came first?").waitFor()
      await page.keyboard.press("p")
      await page.waitForURL((url) => url.hash.includes(first))
      // Which stands before the call that its id follows.
      await page.getByText("What came next?").waitFor()
    })

    it("lists all keys that do something, and switches them off", async () => {
      const { page } = await world.arrive(`#/events/${world.ids[1]}`)
      await page.getByText("Answer of a tool").waitFor()
      await page.keyboard.press("?")
      const dialog = page.getByRole("dialog", { name: "Keys" })
      await dialog.getByText("Next call of the session").waitFor()
      expect(await problemsOf(page)).toEqual([])
      await dialog.getByRole("checkbox").click()
      await page.keyboard.press("Escape")
      await page.keyboard.press("?")
      await page.keyboard.press("f")
      expect(await dialog.isVisible()).toBe(false)
      expect(page.url()).not.toContain("tab=")
    })
  })
}
