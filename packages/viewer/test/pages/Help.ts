import { describe, expect, it } from "vitest"
import { problemsOf } from "../Accessibility.ts"
import { goTo } from "../Browser.ts"
import { Conversation, text, user } from "../Conversation.ts"
import { texts } from "../../app/help/texts.ts"
import { sectionsOf } from "../../app/pages/docs/Docs.ts"
import { documentation } from "../../scripts/documentation.ts"
import type { World } from "./World.ts"

const summary = "What this page shows"

export const define = (world: World) => {
  /** One place of each page. */
  const places: Readonly<Record<string, () => string>> = {
    "agents 0": () => "#/agents",
    "agents 1": () => "#/agents/keeper",
    "agents 2": () => "#/agents/keeper/compare?from=1.4&to=1.5",
    "calls 0": () => "#/calls",
    "diff 1": () => `#/diff/calls?a=${world.ids[0]}&b=${world.ids[1]}`,
    "docs 0": () => "#/docs",
    "events 1": () => `#/events/${world.ids[1]}`,
    "failures 0": () => "#/failures",
    "fingerprints 0": () => "#/fingerprints",
    "fingerprints 1": () => `#/fingerprints/${world.fingerprintId}`,
    "live 0": () => "#/live",
    "overview 0": () => "#/overview",
    "people 0": () => "#/people",
    "people 1": () => "#/people/ada",
    "record 0": () => "#/record",
    "search 0": () => "#/search",
    "sessions 0": () => "#/sessions",
    "sessions 1": () => world.sessionPlace,
    "shared 1": () => `#/shared/${world.sharedText}`
  }

  describe("the help beside the title", () => {
    it("is there for every page, and leads to sections of the documentation that there are", () => {
      expect(Object.keys(places)).toEqual(Object.keys(texts))
      const anchors = new Map(documentation().map((page) => [page.name, sectionsOf(page).map(({ anchor }) => anchor)]))
      for (const [page, { docs, sentences }] of Object.entries(texts)) {
        expect([page, anchors.get(docs[0])]).toEqual([page, expect.arrayContaining([docs[1] ?? ""])])
        expect(sentences.length).toBeGreaterThanOrEqual(2)
        expect(sentences.length).toBeLessThanOrEqual(5)
      }
    })

    it("says what each page shows, at any width", async () => {
      const { page } = await world.visit("#/nothing")
      for (const [name, place] of Object.entries(places)) {
        for (const width of [1280, 1000, 400]) {
          await page.setViewportSize({ width, height: 800 })
          await goTo(page, "#/nothing")
          await goTo(page, place())
          const help = page.locator("details.help")
          await help.locator("summary").click()
          await help.getByText(texts[name]!.sentences[0]!).waitFor()
          expect([name, width, await problemsOf(page)]).toEqual([name, width, []])
          const box = (await help.locator(".help-text").boundingBox())!
          expect([name, box.x >= 0, box.x + box.width <= width]).toEqual([name, true, true])
        }
      }
    })

    it("is beside a long title, within the page", async () => {
      const session = "long ".repeat(50)
      await new Conversation(world.server.client, world.fingerprintId, session, { agent: session }).call(
        [user(session)],
        [text("Yes.")]
      )
      const { page } = await world.visit("#/nothing")
      for (const place of [`#/sessions/${encodeURIComponent(session)}`, `#/agents/${encodeURIComponent(session)}`]) {
        for (const width of [1280, 1000, 400]) {
          await page.setViewportSize({ width, height: 800 })
          await goTo(page, "#/nothing")
          await goTo(page, place)
          await page.getByLabel(summary).click()
          await page.getByRole("link", { name: "More in the documentation" }).waitFor()
          for (const part of ["summary", ".help-text"]) {
            const { x, width: of } = (await page.locator(`.help > ${part}`).boundingBox())!
            expect([place, part, width, x >= 0, x + of <= width]).toEqual([place, part, width, true, true])
          }
        }
      }
    })

    it("is opened and closed by keys, and by a click elsewhere, and leads to the documentation", async () => {
      const { page } = await world.visit(world.sessionPlace)
      const help = page.locator("details.help")
      const link = help.getByRole("link", { name: "More in the documentation" })
      const closed = () => expect.poll(() => help.getAttribute("open")).toBe(null)
      await help.getByLabel(summary).focus()
      await page.keyboard.press("Enter")
      await link.waitFor()
      await page.keyboard.press("Escape")
      await closed()
      expect(new URL(page.url()).hash).toBe(world.sessionPlace)
      await help.getByLabel(summary).click()
      await link.waitFor()
      await page.locator("h1").click()
      await closed()
      await help.getByLabel(summary).click()
      await link.click()
      await page.getByRole("heading", { name: "A session", exact: true }).waitFor()
    })
  })
}
