import { describe, expect, it } from "vitest"
import { Conversation, text, user } from "../Conversation.ts"
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
