import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { Conversation, text, user } from "../Conversation.ts"
import { rowOf, type World } from "./World.ts"

export const define = (world: World) => {
  describe("the pages of agents and fingerprints", () => {
    it("are moved along and opened by keys", async () => {
      const { page } = await world.visit("#/agents")
      await rowOf(page, "keeper").waitFor()
      await page.keyboard.press("j")
      const name = await page.locator("tr[aria-current] a").first().innerText()
      await page.keyboard.press("Enter")
      await page.waitForURL((url) => url.hash === `#/agents/${name}`)
    })

    it("say of a table that it scrolls, and only where it does", async () => {
      const { page } = await world.visit("#/agents/keeper/compare?from=1.4&to=1.5", { width: 260, height: 800 })
      await page.locator('[data-scrolls][aria-label="Each call"]').waitFor()
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.locator('[aria-label="Each call"]:not([data-scrolls])').waitFor()
    })

    it("show the figures of a row below each other, each with its title, where a table has no room", async () => {
      const { page } = await world.visit("#/agents", { width: 400, height: 800 })
      const row = rowOf(page, "keeper")
      await row.waitFor()
      await page.locator(".table-scroll:not([data-scrolls])").waitFor()
      const titles = await row
        .locator("td")
        .evaluateAll((cells) => cells.slice(1).map((cell) => getComputedStyle(cell, "::before").content))
      for (const title of ["Sessions", "Calls", "Failed", "Tokens", "Cost", "Duration, p95", "Last call"]) {
        expect(titles).toContain(`"${title}"`)
      }
      // They have no room, but sort.
      await page.getByRole("button", { name: "Cost", exact: true }).click()
      await page.locator('[aria-sort="descending"]').getByText("Cost").waitFor()
    })

    it("compare the prompts of two versions word by word", async () => {
      const { page } = await world.visit("#/agents/keeper")
      await page.getByRole("link", { name: "Compare 1.4 with 1.5" }).click()
      await page.locator("del").getByText("careful").waitFor()
      await page.locator("ins").getByText("bold").waitFor()
    })

    it("say which versions used a prompt, and which are deprecated", async () => {
      const { status } = await world.server.client.post("/api/v1/agents/keeper/agent-versions/1.4/deprecate", {})
      expect(status).toBe(200)
      const { page } = await world.visit("#/agents/keeper")
      await rowOf(page, "deprecated").getByRole("link", { name: "1.4" }).waitFor()
      const prompts = page.locator(".prompts.instructions tbody tr")
      await expect.poll(() => prompts.count()).toBe(2)
      const shown = (await prompts.allInnerTexts()).map((row) => row.replace(/\s+/g, " "))
      const hashOf = (prompt: string) => createHash("sha256").update(prompt).digest("hex").slice(0, 10)
      for (const [row, prompt, version] of [
        [0, "You are a bold agent.", "1.5"],
        [1, "You are a careful agent.", "1.4"]
      ] as const) {
        const expected = `${prompt} ${prompt.length} characters, ${hashOf(prompt)} What it changed`
        expect(shown[row]).toContain(row === 1 ? expected.replace(" What it changed", ` ${version}`) : expected)
      }
      // Nothing is compared before it is looked at.
      expect(await page.locator(".prompts .diff, .prompts details .hint").count()).toBe(0)
      await prompts.nth(0).getByText("What it changed").click()
      await prompts.nth(0).locator("del").getByText("careful").waitFor()
    })

    it("show when each version was used", async () => {
      const { page } = await world.visit("#/agents/keeper")
      const chart = page.locator(".chart").filter({ hasText: "Calls by version" })
      await chart.locator(".legend").getByText("1.4").waitFor()
      const colorOf = (place: string) => page.locator(place).first().getAttribute("class")
      expect(await chart.locator(".legend li", { hasText: "1.5" }).locator(".swatch").getAttribute("class")).toBe(
        (await colorOf('tr:has-text("1.5") .dot'))?.replace("dot", "swatch")
      )
      await chart.getByRole("slider").focus()
      await page.keyboard.press("Home")
      await page.keyboard.press("End")
      const read = await chart.getByRole("slider").getAttribute("aria-valuetext")
      expect(read).toMatch(/^\w{3} \d+ \w{3}: 1\.4 4, 1\.5 1, all 5$/)
      expect((await chart.locator(".tip").innerText()).replace(/\s+/g, " ")).toMatch(/1\.4 4 1\.5 1 All 5/)
    })

    it("compare what a call of two versions took", async () => {
      const { page } = await world.visit("#/agents/keeper/compare?from=1.4&to=1.5")
      // The list of sessions, which is shown before, has rows that say so too.
      await page.getByRole("heading", { name: "Each call" }).waitFor()
      const shown = await rowOf(page, "Failed").last().innerText()
      expect(shown.replace(/\s+/g, " ")).toBe("Failed 25% 0% ▼ −100% better")
      expect((await rowOf(page, "Duration, p50").last().innerText()).replace(/\s+/g, " ")).toContain(
        "1.2 s 1.2 s the same"
      )
    })

    it("judge no costs that are not known, and divide those of sessions and calls by all of them", async () => {
      for (const [version, models] of [
        ["1", ["claude-sonnet-4-5", "claude-sonnet-4-5", "of no price list"]],
        ["2", ["claude-sonnet-4-5", "claude-sonnet-4-5"]],
        ["3", ["claude-sonnet-4-5"]]
      ] as const) {
        const fields = { agent: "wager", agent_version: version }
        const conversation = new Conversation(world.server.client, world.fingerprintId, `wager ${version}`, fields)
        conversation.usage = { input_tokens: 100_000, output_tokens: 0 }
        for (const model of models) {
          conversation.model = model
          await conversation.call([user("Go on")], [text("Done.")])
        }
      }
      const shown = async (versions: string, table: string, row: string) => {
        const { page } = await world.visit(`#/agents/wager/compare?${versions}`)
        const cells = page
          .getByRole("region", { name: table })
          .getByRole("row")
          .filter({ hasText: new RegExp(`^${row}`) })
        return (await cells.first().innerText()).replaceAll(/\s+/g, " ")
      }
      const notKnown = "not known: some calls have no price"
      expect(await shown("from=1&to=3", "Each session", "Cost, mean")).toBe(`Cost, mean $0.60+ $0.30 ${notKnown}`)
      expect(await shown("from=1&to=3", "Each session", "Cost, p95")).toBe(`Cost, p95 $0.60+ $0.30 ${notKnown}`)
      expect(await shown("from=1&to=3", "Each session", "Calls")).toMatch(/^Calls 3\.0 1\.0 /)
      expect(await shown("from=1&to=3", "Each call", "Cost")).toBe(`Cost $0.20+ $0.30 ${notKnown}`)
      expect(await shown("from=2&to=3", "Each session", "Cost, mean")).toBe("Cost, mean $0.60 $0.30 ▼ −50% better")
      expect(await shown("from=2&to=3", "Each call", "Cost")).toBe("Cost $0.30 $0.30 the same")
    })

    it("say who used a fingerprint, and which packages it has that another has not", async () => {
      const { page } = await world.visit(`#/fingerprints/${world.otherFingerprintId}`)
      await rowOf(page, "copyist").waitFor()
      await page.getByRole("combobox").selectOption(world.fingerprintId)
      await page.waitForURL((url) => url.hash.endsWith(`?with=${world.fingerprintId}`))
      await expect.poll(() => page.locator(".packages ins").allInnerTexts()).toEqual(["4.1.0", "1.3.0"])
      await page.goBack()
      await expect.poll(() => page.locator(".packages").count()).toBe(0)
    })
  })
}
