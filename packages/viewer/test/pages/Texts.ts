import { describe, expect, it } from "vitest"
import { goTo } from "../Browser.ts"
import { Conversation, text, user } from "../Conversation.ts"
import { apiKey } from "../Server.ts"
import type { World } from "./World.ts"

export const define = (world: World) => {
  describe("a text", () => {
    const visit = async (session: string, said: string) => {
      const conversation = new Conversation(world.server.client, world.fingerprintId, session)
      await conversation.call([user(said)], [text("Good.")])
      const { page } = await world.visit(`#/sessions/${encodeURIComponent(session)}`)
      const message = page.locator(".message.user .said")
      await message.waitFor()
      return { page, message }
    }

    it.each([
      ["is nested 30,000 levels deep", `${"[".repeat(30_000)}${"]".repeat(30_000)}`],
      ["has 20,000 fields", `{${Array.from({ length: 20_000 }, (_, n) => `"field ${n}":${n}`).join(",")}}`],
      [
        "has 5,000 parts",
        `[${Array.from({ length: 5_000 }, () => '{"type":"image","source":{"type":"url","url":"https://a.example/"}}').join(",")}]`
      ]
    ])("of a tool that %s is shown in part", async (session, json) => {
      const { fingerprintId: fingerprint_id, server } = world
      const call = { type: "tool_use", id: "t1", name: "read", input: {} }
      const messages = [
        user("Read"),
        { role: "assistant", content: [call] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "THE ANSWER" }] }
      ]
      const properties = {
        api: "provider2-messages",
        inputs: { model: "m", messages },
        output: { role: "assistant", content: [text("Done")] }
      }
      const answer = await fetch(`${server.url}/api/v1/events`, {
        method: "POST",
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
        body: JSON.stringify({ event_name: "llm", fingerprint_id, session, properties }).replace('"THE ANSWER"', json)
      })
      expect(answer.status).toBe(200)
      const { event_id } = (await answer.json()) as { readonly event_id: string }
      const { complaints, page } = await world.visit("#/nothing")
      for (const place of [`#/sessions/${encodeURIComponent(session)}`, `#/events/${event_id}?tab=input`]) {
        await goTo(page, place)
        await page.locator("details.tool > summary").first().click()
        await page.locator("details.tool .fold").first().waitFor()
        expect(await page.locator("details.tool *").count()).toBeLessThan(3_000)
        expect(complaints).toEqual([])
      }
    })

    it("has one box for each task of a list", async () => {
      const { message } = await visit("tasks", "- [x] paint\n- [ ] clean\n\nand:\n\n1. [x] one\n\n2. [ ] two")
      await expect.poll(() => message.getByRole("checkbox").count()).toBe(4)
      expect(await message.innerText()).not.toMatch(/\[.\]/)
      expect(await message.getByRole("checkbox", { checked: true }).count()).toBe(2)
    })

    it("is shown as it was sent where reading it as Markdown would be much work, until a person asks", async () => {
      const { message } = await visit("repetitive", `**bold**\n\n${"*a".repeat(3_500)}`)
      await message.getByText("**bold**").waitFor()
      await message.getByRole("button", { name: "Show as Markdown" }).click()
      await message.locator("strong", { hasText: "bold" }).waitFor()
      expect(await message.getByRole("button", { name: "Show as Markdown" }).count()).toBe(0)
    })

    it("is only ever shown as it was sent where that would take longer than a person waits", async () => {
      const { message } = await visit("more repetitive", `**bold**\n\n${"*a".repeat(40_000)}`)
      await message.getByText("**bold**").waitFor()
      await message.getByRole("button", { name: "Show more of 80 kB" }).click()
      await expect.poll(async () => (await message.innerText()).length).toBeGreaterThan(80_000)
      expect(await message.getByRole("button").count()).toBe(0)
      expect(await message.locator(".markdown").count()).toBe(0)
    })
  })
}
