import { MemoryStorage, Storage, type StoredSummary } from "@tachograph/core"
import { Effect, Layer } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { openWithKey } from "../Browser.ts"
import { Conversation, registered, text, user } from "../Conversation.ts"
import { apiKey, start } from "../Server.ts"

const damage = (rows: ReadonlyArray<StoredSummary>) =>
  rows.map((row) => (row.summary?.agent === "damaged" ? { ...row, summary: undefined } : row))

/** A storage that answers no fields of the calls of the agent `damaged`, as one whose rows cannot be read. */
const damaging = Layer.effect(
  Storage,
  Effect.map(Storage, (storage) =>
    Storage.of({
      ...storage,
      listEvents: (...args) => Effect.map(storage.listEvents(...args), damage),
      findEvents: (...args) => Effect.map(storage.findEvents(...args), (page) => ({ ...page, rows: damage(page.rows) }))
    })
  )
).pipe(Layer.provide(MemoryStorage.layer))

/** Seven calls of a session, of which the third and the fifth are damaged. */
const record = async () => {
  const server = await start(damaging)
  onTestFinished(() => server.close())
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
  const visit = (place: string) => openWithKey(`${server.url}/viewer/${place}`, apiKey)
  return { fingerprint, ids, visit }
}

export const define = () => {
  describe("damaged calls", () => {
    it("are stepped over and marked in a session, where they stand", async () => {
      const { ids, visit } = await record()
      const { page } = await visit("#/sessions/a%20session")
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
      const { visit } = await record()
      const { complaints, page } = await visit("#/live")
      await page.locator("tbody tr").nth(6).waitFor()
      const shown = (await page.locator("tbody tr").allInnerTexts()).map((row) => row.includes("damaged"))
      expect(shown).toEqual([false, false, true, false, true, false, false])
      expect(complaints.filter((complaint) => !complaint.includes("status of 500"))).toEqual([])
    })

    it("are counted among those of a runtime", async () => {
      const { fingerprint, visit } = await record()
      const { page } = await visit(`#/fingerprints/${fingerprint}`)
      await page.getByRole("row").filter({ hasText: "whole" }).waitFor()
      await page.getByText("2 of the latest calls are damaged").waitFor()
    })

    it("leave the pages of their neighbours alone", async () => {
      const { ids, visit } = await record()
      const { page } = await visit(`#/events/${ids[3]}`)
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
