import { MemoryStorage, Storage, type StoredSummary } from "@tachograph/core"
import type { HttpClient } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { goTo, openWithKey } from "../Browser.ts"
import { timeOf } from "../../app/server/Damage.ts"
import { Conversation, registered, text, user } from "../Conversation.ts"
import { apiKey, start } from "../Server.ts"
import { Visitor } from "../Visitor.ts"

/** A storage that answers no fields of some calls, as one whose rows cannot be read. */
const damaging = (isDamaged: (row: StoredSummary) => boolean) => {
  const damage = (rows: ReadonlyArray<StoredSummary>) =>
    rows.map((row) => (isDamaged(row) ? { ...row, summary: undefined } : row))
  return Layer.effect(
    Storage,
    Effect.map(Storage, (storage) =>
      Storage.of({
        ...storage,
        listEvents: (...args) => Effect.map(storage.listEvents(...args), damage),
        findEvents: (...args) =>
          Effect.map(storage.findEvents(...args), (page) => ({ ...page, rows: damage(page.rows) }))
      })
    )
  ).pipe(Layer.provide(MemoryStorage.layer))
}

/** Records calls at once until three of them share a millisecond. Returns their ids, in order. */
const recordInOneMillisecond = async (client: HttpClient.Client): Promise<ReadonlyArray<string>> => {
  const fingerprint = await registered(client)
  for (let round = 0; ; round++) {
    const calls = Array.from({ length: 10 }, (_, number) =>
      new Conversation(client, fingerprint, `session ${round}-${number}`).call([user("Question")], [text("Answer")])
    )
    const ids = (await Promise.all(calls)).sort()
    const at = ids.findIndex((id, number) => number >= 2 && timeOf(id) === timeOf(ids[number - 2]!))
    if (at !== -1) return ids.slice(at - 2, at + 1)
  }
}

/** Seven calls of a session, of which the third and the fifth are damaged. */
const record = async () => {
  const server = await start(damaging(({ summary }) => summary?.agent === "damaged"))
  const fingerprint = await registered(server.client)
  const whole = new Conversation(server.client, fingerprint, "a session", { agent: "whole" })
  const damaged = new Conversation(server.client, fingerprint, "a session", { agent: "damaged" })
  const ids: Array<string> = []
  for (let number = 1; number <= 7; number++) {
    const conversation = number === 3 || number === 5 ? damaged : whole
    conversation.history = number === 3 || number === 5 ? whole.history : conversation.history
    ids.push(await conversation.call([user(`Question ${number}`)], [text(`Answer ${number}`)]))
    whole.history = conversation.history
  }
  return { fingerprint, ids, server }
}

export const define = () => {
  describe("damaged calls", () => {
    let recorded: Awaited<ReturnType<typeof record>>
    beforeAll(async () => (recorded = await record()))
    afterAll(() => recorded.server.close())
    const visitor = new Visitor(() => recorded.server, "status of 500")

    it("are stepped over and marked in a session, where they stand", async () => {
      const { ids } = recorded
      const { page } = await visitor.visit("#/sessions/a%20session", { width: 1280, height: 900 })
      await page.locator(".said").getByText("Answer 7", { exact: true }).waitFor()
      const marks = page.locator(".call-mark")
      await marks.nth(6).waitFor()
      const shown = (await marks.allInnerTexts()).map((mark) => mark.includes("Damaged"))
      expect(shown).toEqual([false, false, true, false, true, false, false])
      expect(await marks.nth(2).getByRole("link").getAttribute("href")).toBe(`#/events/${ids[2]}`)
      expect(await page.getByText("could not be read").count()).toBe(0)
      await page.keyboard.press("v")
      await page.getByRole("row").filter({ hasText: "damaged" }).nth(1).waitFor()
    })

    it("are marked among the live calls", async () => {
      const { page } = await visitor.visit("#/live")
      await page.locator("tbody tr").nth(6).waitFor()
      const shown = (await page.locator("tbody tr").allInnerTexts()).map((row) => row.includes("damaged"))
      expect(shown).toEqual([false, false, true, false, true, false, false])
    })

    it("hide no other call of their millisecond", async () => {
      const damaged = new Set<string>()
      const server = await start(damaging(({ id }) => damaged.has(id)))
      onTestFinished(() => server.close())
      const [first, second, third] = await recordInOneMillisecond(server.client)
      damaged.add(second!)
      const { page } = await openWithKey(`${server.url}/viewer/#/live`, apiKey)
      for (const id of [third, second, first]) await page.locator(`tbody a[href="#/events/${id}"]`).waitFor()
      for (const id of [first!, third!]) {
        await goTo(page, `#/events/${id}`)
        await page.locator(".said").getByText("Answer", { exact: true }).waitFor()
      }
      await goTo(page, `#/events/${second}`)
      await page.getByRole("heading", { name: "This call is damaged" }).waitFor()
    })

    it("are counted among those of a fingerprint", async () => {
      const { page } = await visitor.visit(`#/fingerprints/${recorded.fingerprint}`)
      await page.getByRole("row").filter({ hasText: "whole" }).waitFor()
      await page.getByText("2 of the latest calls are damaged").waitFor()
    })

    it("leave the pages of their neighbours alone", async () => {
      const { ids } = recorded
      const { page } = await visitor.visit(`#/events/${ids[3]}`)
      await page.locator(".said").getByText("Answer 4", { exact: true }).waitFor()
      await page.getByRole("button", { name: "Next" }).click()
      await page.waitForURL((url) => url.hash === `#/events/${ids[4]}`)
      await page.getByRole("heading", { name: "This call is damaged" }).waitFor()
      await page.goBack()
      await page.getByRole("button", { name: "Previous" }).click()
      await page.waitForURL((url) => url.hash === `#/events/${ids[2]}`)
    })
  })
}
