import { describe, expect, it } from "vitest"
import { goTo } from "../Browser.ts"
import { Conversation, result, text, tool, user } from "../Conversation.ts"
import type { World } from "./World.ts"

/** Two answers to one question, whose tool calls have other ids. */
const record = async ({ fingerprintId, server: { client } }: World) => {
  for (const [session, prompt, answer] of [
    ["compared, one", "You are a careful agent.", "The lighthouse was painted white."],
    ["compared, other", "You are a quick agent.", "The lighthouse was painted red in July."]
  ] as const) {
    const run = new Conversation(client, fingerprintId, session, { agent: "painter", agent_version: prompt })
    run.system = prompt
    run.tools = [{ name: "read_file", input_schema: { type: "object" } }]
    await run.call([user("Which colour?")], [tool(`id of ${session}`, "read_file", { path: "notes.md" })])
    await run.call([result(`id of ${session}`, "Notes on paint")], [text(answer)])
    if (session === "compared, other") await run.call([user("Thanks")], [text("Gladly.")])
  }
}

export const define = (world: World) => {
  describe("two sessions or calls, compared", () => {
    let recorded: Promise<void> | undefined
    const place = `#/diff/sessions?a=${encodeURIComponent("compared, one")}&b=${encodeURIComponent("compared, other")}`
    const visit = async (size?: { readonly width: number; readonly height: number }) => {
      await (recorded ??= record(world))
      const { page } = await world.visit(place, size)
      await page.locator(".compared .pair").first().waitFor()
      return page
    }

    it("show what they are, what differs in their settings, and their messages beside each other", async () => {
      const page = await visit()
      const facts = page.locator(".sides")
      const row = async (name: string) =>
        (
          await facts
            .getByRole("row")
            .filter({ has: page.getByRole("rowheader", { name, exact: true }) })
            .innerText()
        ).replace(/\s+/g, " ")
      expect(await row("Agent")).toBe("Agent painter the same")
      expect(await row("Version")).toBe("Version You are a careful agent. You are a quick agent.")
      expect(await row("Calls")).toBe("Calls 2 3")
      expect(
        await page.locator(".settings section").filter({ hasText: "Instructions" }).locator("ins").innerText()
      ).toBe("quick")
      await page.getByText("3 equal messages, 1 different, 0 only in A, 2 only in B.").waitFor()
      const pair = page.locator(".pair").first()
      const sides = pair.locator(".half")
      expect(await sides.nth(0).locator("del").allInnerTexts()).toEqual(["white"])
      expect(await sides.nth(0).locator("ins").count()).toBe(0)
      expect((await sides.nth(1).locator("ins").allInnerTexts()).join("")).toContain("red")
      const [left, right] = [(await sides.nth(0).boundingBox())!, (await sides.nth(1).boundingBox())!]
      expect([left.y === right.y, left.x + left.width <= right.x]).toEqual([true, true])
      await page.locator(".pair.alone").filter({ hasText: "Thanks" }).getByText("only here").waitFor()
      // Equal messages are there when they are asked for.
      const equal = page.locator("details.equal")
      expect(await equal.locator(".message").count()).toBe(0)
      await equal.locator("summary").click()
      await equal.getByText("Which colour?").waitFor()
    })

    it("are one below the other where the page is narrow, each with its letter", async () => {
      const page = await visit({ width: 400, height: 800 })
      const sides = page.locator(".pair").first().locator(".half")
      const [one, other] = [(await sides.nth(0).boundingBox())!, (await sides.nth(1).boundingBox())!]
      expect(one.y + one.height).toBeLessThanOrEqual(other.y)
      expect(await sides.locator(".side-name").allInnerTexts()).toEqual(["A", "B"])
    })

    it("can be swapped, and left by Escape", async () => {
      const page = await visit()
      await page.getByRole("link", { name: "Swap A and B" }).click()
      await page.getByText("3 equal messages, 1 different, 2 only in A, 0 only in B.").waitFor()
      await page.keyboard.press("Escape")
      await page.waitForURL((url) => !url.hash.startsWith("#/diff"))
    })

    it("go from difference to difference by keys", async () => {
      const page = await visit({ width: 1280, height: 400 })
      const top = (index: number) =>
        page
          .locator(".pair")
          .nth(index)
          .evaluate((pair) => Math.round(pair.getBoundingClientRect().top))
      await page.keyboard.press("n")
      await expect.poll(() => top(0)).toBeLessThan(400)
      const before = await page.evaluate(() => scrollY)
      expect(before).toBeGreaterThan(0)
    })

    it("are reached from a session, which offers the others of its agent", async () => {
      await visit()
      const { page } = await world.visit(`#/sessions/${encodeURIComponent("compared, one")}`)
      await page.getByRole("link", { name: "Compare with…" }).click()
      await page.getByRole("heading", { name: "Compare this session with…" }).waitFor()
      await page.locator(".rows .id", { hasText: "compared, other" }).waitFor()
      await page.getByLabel("Name of a session").fill("compared, other")
      await page.keyboard.press("Enter")
      await page.waitForURL((url) => url.hash.replaceAll("+", "%20") === place)
      await page.locator(".pair").first().waitFor()
    })

    it("are reached from a call: with the one before, and with its retry", async () => {
      const { client } = world.server
      const run = new Conversation(client, world.fingerprintId, "compared, retried", {
        agent: "painter",
        duration_ms: 0
      })
      const failed = await run.fail(user("Try this"), "overloaded_error")
      const retried = await run.call([], [text("Done.")])
      const { page } = await world.visit(`#/events/${failed}`)
      await page.getByRole("link", { name: "its retry" }).click()
      await page.waitForURL((url) => url.hash === `#/diff/calls?a=${failed}&b=${retried}`)
      await page.getByText("1 equal message, 0 different, 0 only in A, 1 only in B.").waitFor()
      expect(await page.locator(".sides").innerText()).toContain("overloaded_error")
      await goTo(page, `#/events/${world.ids[1]}`)
      await page.locator(".compare-with").getByRole("link", { name: "the call before" }).click()
      await page.waitForURL((url) => url.hash === `#/diff/calls?a=${world.ids[0]}&b=${world.ids[1]}`)
    })

    it("say that one of them is gone", async () => {
      const { page } = await world.visit(`${place}%20no`)
      await page.getByText("There is no such session").waitFor()
      await goTo(page, "#/diff/people?a=ada")
      await page.getByText("Nothing is chosen to be compared").waitFor()
    })

    it("say what is not loaded of long ones, and load it", async () => {
      const { client } = world.server
      for (const name of ["long, one", "long, other"]) {
        const run = new Conversation(client, world.fingerprintId, name, { agent: "long" })
        run.history = Array.from({ length: 1_300 }, (_, at) => user(`Message ${at}`))
        await run.call([user(name)], [text("Yes.")])
      }
      const place = "#/diff/sessions?a=long,%20one&b=long,%20other"
      const { page } = await world.visit(place)
      await page.getByText("Only the first 1,000 messages of A and the first 1,000 messages of B are loaded").waitFor()
      await page.getByRole("button", { name: "Load more" }).click()
      await page.getByText("1,301 equal messages, 1 different, 0 only in A, 0 only in B.").waitFor()
      await expect.poll(() => page.getByRole("button", { name: /^Load/ }).count()).toBe(0)
      // Without going through all rows.
      await goTo(page, "#/nothing")
      await goTo(page, place)
      await page.getByRole("button", { name: "Load the next ones" }).click()
      await page.getByText("1,301 equal messages, 1 different").waitFor()
    })
  })
}
