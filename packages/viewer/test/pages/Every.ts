import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { problemsOf } from "../Accessibility.ts"
import { goTo, type Watched } from "../Browser.ts"
import type { World } from "./World.ts"

export const define = (world: World) => {
  const places: ReadonlyArray<readonly [name: string, place: () => string, shows: string]> = [
    ["sessions", () => "#/sessions", "other 20"],
    ["a session", () => world.sessionPlace, "The lighthouse was painted"],
    ["the table of calls", () => `${world.sessionPlace}?view=table`, "rewritten"],
    ["a session of OpenTelemetry", () => "#/sessions/traced", "from its span"],
    ["the timeline", () => "#/sessions/traced?view=timeline", "execute_tool tide_table"],
    ["what a call added", () => `#/events/${world.ids[1]}`, "Answer of a tool"],
    ["a call with a rewritten history", () => `#/events/${world.ids[3]}`, "History rewritten"],
    ["all that a call sent", () => `#/events/${world.ids[1]}?tab=input`, "read_file"],
    ["the answer", () => `#/events/${world.ids[1]}?tab=answer`, "The lighthouse was painted"],
    ["the settings", () => `#/events/${world.ids[1]}?tab=settings`, "You are a careful agent."],
    ["the settings, compared", () => `#/events/${world.ids[1]}?tab=settings&diff=1`, "The same in both."],
    ["the JSON", () => `#/events/${world.ids[0]}?tab=json`, "claude-sonnet-4-5"],
    ["the bytes", () => `#/events/${world.ids[0]}?tab=raw`, "SHA-256"],
    ["calls as they come", () => "#/live", "Calls appear as they are recorded"],
    ["the failures", () => "#/failures", "overloaded_error"],
    ["the calls", () => "#/calls", "keeper"],
    ["the agents", () => "#/agents", "keeper"],
    ["an agent", () => "#/agents/keeper", "You are a bold agent."],
    ["two versions, compared", () => "#/agents/keeper/compare?from=1.4&to=1.5", "bold"],
    [
      "two sessions, compared",
      () => `#/diff/sessions?a=${encodeURIComponent(world.session)}&b=the%20next%20version`,
      "2 different"
    ],
    ["what a session is compared with", () => `#/diff/sessions?a=the%20next%20version`, "The latest of its agent"],
    ["two calls, compared", () => `#/diff/calls?a=${world.ids[0]}&b=${world.ids[1]}`, "2 equal messages"],
    ["what a call is compared with", () => `#/diff/calls?a=${world.ids[1]}`, "The call that it continues"],
    ["the people", () => "#/people", "team: lighthouse"],
    ["a person", () => "#/people/ada", "Their sessions"],
    ["a fingerprint", () => `#/fingerprints/${world.fingerprintId}`, "typescript"],
    ["the fingerprints", () => "#/fingerprints", "typescript 7, linux"],
    [
      "two fingerprints, compared",
      () => `#/fingerprints/${world.otherFingerprintId}?with=${world.fingerprintId}`,
      "left-pad"
    ],
    ["a person that does not exist", () => "#/people/nobody", "There is no such person"],
    ["an agent that does not exist", () => "#/agents/nobody", "There is no such agent"],
    ["a shared text", () => `#/shared/${world.sharedText}`, "Be careful."],
    [
      "a preview of a session",
      () => `#/sessions?agent=keeper&peek=${encodeURIComponent(world.session)}`,
      "July was quiet."
    ],
    ["a preview of a call", () => `#/live?peek=${world.ids[1]}`, "The notes"],
    ["the overview", () => "#/overview", "claude-sonnet-4-5"],
    ["what was searched for", () => "#/search?q=lighthouse", "first said"],
    ["the ways to record", () => "#/record", "recorder.fetch"],
    ["the documentation", () => "#/docs", "Record with the proxy"],
    ["a page of the documentation", () => "#/docs/viewer", "Beside other viewers"],
    ["a long page of the documentation", () => "#/docs/opentelemetry", "Which way to use"],
    ["a session that does not exist", () => "#/sessions/none", "There is no such session"],
    ["a call that does not exist", () => "#/events/00000000-0000-7000-8000-000000000000", "There is no such call"],
    ["a text that does not exist", () => `#/shared/${"0".repeat(64)}`, "There is no such text"],
    ["a page that does not exist", () => "#/nothing", "There is no such page"]
  ]

  describe("every page", () => {
    // One visitor goes from page to page.
    let watched: Watched
    let close = async () => {}
    beforeAll(async () => {
      watched = await world.arrive("#/sessions", {}, (end) => (close = end))
      // Colours change at once: none is judged on its way from one theme to the other.
      await watched.page.emulateMedia({ reducedMotion: "reduce" })
    })
    afterAll(() => close())

    it.each(places)(
      "shows %s, accessibly in both themes, at any width, and asks no other server for anything",
      async (_name, place, shows) => {
        const { complaints, foreign, page } = watched
        await page.setViewportSize({ width: 1280, height: 800 })
        await page.emulateMedia({ colorScheme: "light" })
        await goTo(page, place())
        await page.getByText(shows).filter({ visible: true }).first().waitFor()
        expect(["light", await problemsOf(page)]).toEqual(["light", []])
        await page.emulateMedia({ colorScheme: "dark" })
        expect(["dark", await problemsOf(page, "colors")]).toEqual(["dark", []])
        for (const width of [400, 2560]) {
          await page.setViewportSize({ width, height: 900 })
          await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
        }
        expect([complaints, foreign]).toEqual([[], []])
      }
    )
  })
}
