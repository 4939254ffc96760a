/**
 * Twelve questions, which are answered in the viewer, each from the list of sessions. Clicks are counted, and a choice from a menu is one; what is
 * typed is not. The time from the first click to the answer on the screen is printed.
 */
import { Questions } from "@tachograph/testkit"
import { readFileSync } from "node:fs"
import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Server, start } from "../Server.ts"
import { Visitor } from "../Visitor.ts"
import { rowOf } from "./World.ts"

interface Asking {
  readonly page: Page
  readonly click: (target: Locator) => Promise<void>
  readonly choose: (menu: Locator, option: string) => Promise<void>
  /** To a page that the header names. */
  readonly go: (name: string) => Promise<void>
}

interface Question {
  readonly asked: string
  readonly clicks: number
  /** Ends when the answer is on the screen. */
  readonly answer: (asking: Asking) => Promise<void>
}

/** On one line. */
const said = async (of: Locator): Promise<string> => (await of.innerText()).replace(/\s+/g, " ")

const sessionLink = (page: Page, name: string) => rowOf(page, name).getByRole("link").first()

const questions: ReadonlyArray<Question> = [
  {
    asked: "Which sessions did a person have yesterday?",
    clicks: 2,
    answer: async ({ choose, click, page }) => {
      await click(page.getByLabel("Person", { exact: true }))
      await page.keyboard.type("ann")
      await choose(page.getByLabel("When"), "Yesterday")
      await expect.poll(() => page.locator("main tbody tr").count()).toBe(1)
      expect(await said(rowOf(page, "order-4701"))).toContain("Can I have a refund?")
    }
  },
  {
    asked: "What does a session cost, by version?",
    clicks: 2,
    answer: async ({ click, go, page }) => {
      await go("Agents")
      await click(page.getByRole("link", { name: "support" }))
      const versions = page.getByRole("region", { name: "Version" })
      await versions.waitFor()
      const cells = versions.locator("tbody [data-title='Cost of a session']")
      expect((await cells.allInnerTexts()).map((text) => text.replace(/\s+/g, " "))).toEqual([
        expect.stringMatching(/^\$0\.04\d\d\+ median \$0\.0026\+ · p95 \$0\.16\d\d\+$/),
        "$0.0026 median $0.0026 · p95 $0.0026"
      ])
    }
  },
  {
    asked: "How did they fail, and why?",
    clicks: 1,
    answer: async ({ go, page }) => {
      await go("Failures")
      await rowOf(page, "429").getByText("Please try again in 412ms").waitFor()
      await rowOf(page, "404").getByText("The model `gpt-9` does not exist").waitFor()
    }
  },
  {
    asked: "What changed in the prompt?",
    clicks: 3,
    answer: async ({ click, go, page }) => {
      await go("Agents")
      await click(page.getByRole("link", { name: "support" }))
      await click(page.getByRole("link", { name: "Compare v1 with v2" }))
      await page.locator("del").getByText("short", { exact: true }).waitFor()
      await page.locator("ins").getByText("kind", { exact: true }).waitFor()
    }
  },
  {
    asked: "Why was a session expensive?",
    clicks: 1,
    answer: async ({ click, page }) => {
      await click(sessionLink(page, "order-4715"))
      const miss = page.locator(".side li").filter({ hasText: "Call 3" })
      expect(await said(miss)).toMatch(/^Call 3 20\.5K tokens \$0\.07 the tools changed$/)
    }
  },
  {
    asked: "Where was this said by a person?",
    clicks: 2,
    answer: async ({ choose, go, page }) => {
      await go("Search")
      await page.locator("input[type=search]:focus").waitFor()
      await page.keyboard.type("refund")
      await choose(page.getByLabel("Said by"), "people")
      await page.getByText("2 hits in 2 sessions, all there are").waitFor()
      for (const name of ["order-4701", "order-4711"]) await page.locator(".results").getByText(name).waitFor()
    }
  },
  {
    asked: "What did each model cost today?",
    clicks: 2,
    answer: async ({ click, go, page }) => {
      await go("Overview")
      await click(page.getByRole("link", { name: "Today" }))
      const models = page.getByRole("region", { name: "Model" })
      await models.locator("tbody tr").first().waitFor()
      await expect
        .poll(() => models.locator("[data-title='Cost']").allInnerTexts())
        .toEqual(["$0.1639", "$0.0078+", "$0.1717+"])
    }
  },
  {
    asked: "How do two sessions differ?",
    clicks: 3,
    answer: async ({ click, page }) => {
      for (const name of ["order-4711", "order-4712"]) {
        await click(page.getByRole("checkbox", { name: `Select ${name}` }))
      }
      await click(page.getByRole("button", { name: "Compare" }))
      await page.getByText("0 equal messages, 2 different, 0 only in A, 0 only in B.").waitFor()
    }
  },
  {
    asked: "Which calls were slowest?",
    clicks: 2,
    answer: async ({ click, go, page }) => {
      await go("Calls")
      await click(page.getByRole("button", { name: "Took" }))
      await expect
        .poll(async () => (await page.locator("[data-title='Took']").allInnerTexts()).slice(0, 2))
        .toEqual(["9.4 s", "2.0 s"])
    }
  },
  {
    asked: "Which sessions cost most?",
    clicks: 1,
    answer: async ({ click, page }) => {
      await click(page.getByRole("button", { name: "Cost" }))
      await expect.poll(async () => (await page.locator("main tbody tr").allInnerTexts())[0]).toContain("order-4715")
    }
  },
  {
    asked: "Which calls were tried again?",
    clicks: 2,
    answer: async ({ click, go, page }) => {
      await go("Calls")
      await click(page.getByLabel("Tried again only"))
      const row = page.locator("main tbody tr")
      await row.getByText("tried again by this call").waitFor()
      expect(await row.count()).toBe(1)
      expect(await said(row)).toMatch(/order-4713 support v2 .*429/)
    }
  },
  {
    asked: "How is a person erased, and who can see that it was done?",
    clicks: 4,
    answer: async ({ click, go, page }) => {
      await go("People")
      await click(page.locator("main").getByRole("link", { name: "ann" }))
      await click(page.getByRole("button", { name: "Erase this person…" }))
      await click(page.getByRole("dialog").getByRole("button", { name: "Erase this person" }))
      await page.getByText(/^Erased 2 calls, 2 sessions and /).waitFor()
      await page.getByText("knows nobody of this id.").waitFor()
      await page.getByText("person-erased").waitFor()
    }
  }
]

export const define = () => {
  describe("twelve questions", () => {
    let server: Server
    let recorded: Awaited<ReturnType<typeof Questions.record>>
    const taken: Array<{ readonly question: string; readonly clicks: number; readonly seconds: string }> = []
    // The zone in which yesterday is recorded.
    const visitor = new Visitor(() => server, undefined, { timezoneId: "UTC" })

    beforeAll(async () => {
      server = await start()
      recorded = await Questions.record(server.client)
    })
    afterAll(async () => {
      console.table(taken)
      await server.close()
    })

    /** Counts the clicks of a person, from the first of which the time runs. */
    const ask = async ({ answer, asked }: Question) => {
      const { page } = await visitor.visit("#/sessions")
      await rowOf(page, "order-4715").waitFor()
      let clicks = 0
      let begunMs = 0
      const count = () => {
        begunMs ||= performance.now()
        clicks++
      }
      const click = (target: Locator) => (count(), target.click())
      await answer({
        page,
        click,
        choose: async (menu, option) => {
          count()
          await menu.focus()
          await menu.selectOption(option)
        },
        go: (name) => click(page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name }))
      })
      taken.push({ question: asked, clicks, seconds: ((performance.now() - begunMs) / 1_000).toFixed(1) })
      return clicks
    }

    for (const question of questions) {
      const { asked, clicks } = question
      it(`${asked} Clicks: ${clicks}`, async () => {
        expect(await ask(question)).toBe(clicks)
        const page = readFileSync(new URL("../../../../docs/viewer.md", import.meta.url), "utf8")
        const row = page.split("\n").find((line) => line.startsWith(`| [${asked}](questions.md#`))
        expect(row?.split("|")[2]).toBe(` ${clicks} `)
      })
    }

    it("lead on to what differs where the cache failed", async () => {
      const { page } = await visitor.visit("#/sessions/order-4715")
      await page.locator(".side li").filter({ hasText: "Call 3" }).getByRole("link").click()
      await page.locator(".side").getByText("The tools changed at tool 2, send: everything").waitFor()
    })

    it("lead on to what tried a call again", async () => {
      const { page } = await visitor.visit("#/calls?retried=true")
      await page.getByRole("link", { name: "this call" }).click()
      await page.waitForURL((url) => url.hash === `#/events/${recorded.retry}`)
    })
  })
}
