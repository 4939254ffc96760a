import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { Conversation, text, user } from "../Conversation.ts"
import type { World } from "./World.ts"

const refusal = { status: 503, json: { type: "storage-unavailable" } }

/** Refuses what matches, until it is ended. */
const refuse = async (page: Page, matches: (url: URL) => boolean, headers: Record<string, string> = {}) => {
  await page.route(matches, (route) => route.fulfill({ ...refusal, headers }))
  return () => page.unroute(matches)
}

const isList = (name: string) => (url: URL) => url.pathname.endsWith(`/${name}`)

/** Makes the first page of a session's list shorter, so that few rows are several pages. */
const shorten = (page: Page, name: string) =>
  page.route(
    (url) => isList(name)(url) && url.searchParams.get("limit") === "100",
    (route) => {
      const url = new URL(route.request().url())
      url.searchParams.set("limit", "2")
      return route.continue({ url: url.href })
    }
  )

export const define = (world: World) => {
  const record = async (session: string, count: number) => {
    const conversation = new Conversation(world.server.client, world.fingerprintId, session)
    const say = (number: number) => conversation.call([user(`Question ${number}`)], [text(`Answer ${number}`)])
    for (let number = 1; number <= count; number++) await say(number)
    return say
  }
  const said = (page: Page, text: string) => page.locator(".said").getByText(text, { exact: true })

  describe("a session of which a page cannot be read", () => {
    it.each(["calls", "messages"])(
      "shows what was read of its %s, says that the rest is missing, and goes on from there",
      async (name) => {
        const session = `a page of ${name} missing`
        await record(session, 6)
        const { page } = await world.arrive("#/overview")
        await shorten(page, name)
        // The page does not try again by itself before the test has ended.
        const isNext = (url: URL) => isList(name)(url) && url.searchParams.has("cursor")
        const restore = await refuse(page, isNext, { "retry-after": "600" })
        const asked: Array<URL> = []
        page.on("request", (request) => void asked.push(new URL(request.url())))
        await page.goto(`${world.server.url}/viewer/#/sessions/${encodeURIComponent(session)}`)
        await page.getByText("The rest could not be read").waitFor()
        await said(page, "Question 1").waitFor()
        expect(await said(page, "Answer 6").count()).toBe(0)
        await restore()
        asked.length = 0
        await page.getByRole("button", { name: "Try again" }).click()
        await said(page, "Answer 6").waitFor()
        await page.getByText("The rest could not be read").waitFor({ state: "detached" })
        const places = asked.filter(isList(name)).map((url) => url.searchParams.has("cursor"))
        expect(places[0]).toBe(true)
        for (let number = 1; number <= 6; number++) expect(await said(page, `Question ${number}`).count()).toBe(1)
      }
    )
  })

  describe("a session that is followed", () => {
    it("loses no message of a call whose reading fails", async () => {
      const session = "a read of the newest fails"
      const say = await record(session, 1)
      const { page } = await world.arrive(`#/sessions/${encodeURIComponent(session)}`)
      await said(page, "Answer 1").waitFor()
      const restore = await refuse(page, isList("messages"))
      await say(2)
      await page.getByText("The rest could not be read").waitFor()
      await restore()
      await said(page, "Answer 2").waitFor()
      await page.getByText("The rest could not be read").waitFor({ state: "detached" })
    })

    it("says while it is not connected, and shows afterwards what was recorded meanwhile", async () => {
      const session = "a connection breaks"
      const say = await record(session, 1)
      const { page } = await world.arrive("#/overview")
      const restore = await refuse(page, isList("events/stream"))
      await page.goto(`${world.server.url}/viewer/#/sessions/${encodeURIComponent(session)}`)
      await said(page, "Answer 1").waitFor()
      await page.getByText("Reconnecting").waitFor()
      await say(2)
      await restore()
      await said(page, "Answer 2").waitFor()
      await page.getByText("Reconnecting").waitFor({ state: "detached" })
    })
  })
}
