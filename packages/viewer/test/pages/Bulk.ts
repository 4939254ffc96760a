import { readFile } from "node:fs/promises"
import { describe, expect, it, onTestFinished } from "vitest"
import { problemsOf } from "../Accessibility.ts"
import { openWithKey } from "../Browser.ts"
import { Conversation, registered, text, user } from "../Conversation.ts"
import { apiKey, type Server, start } from "../Server.ts"
import { rowOf } from "./World.ts"

/** Six sessions of two people, the last of two calls. */
const record = async ({ client }: Server) => {
  const fingerprint = await registered(client)
  for (let number = 1; number <= 6; number++) {
    const person = number % 2 === 0 ? "ada" : "bob"
    const run = new Conversation(client, fingerprint, `session ${number}`, { agent: "many", person })
    await run.call([user(`Question ${number}`)], [text(`Answer ${number}`)])
    if (number === 6) await run.call([user("And then?")], [text("Nothing.")])
  }
}

const visit = async (place: string, ...with_: Parameters<typeof start>) => {
  const server = await start(...with_)
  onTestFinished(() => server.close())
  await record(server)
  const watched = await openWithKey(`${server.url}/viewer/${place}`, apiKey, { acceptDownloads: true })
  return { ...watched, server }
}

export const define = () => {
  describe("many sessions", () => {
    const bulk = "section[aria-label='The selected sessions']"

    it("are selected one by one, by ranges, all that are shown, and by keys", async () => {
      const { complaints, page } = await visit("#/sessions")
      await rowOf(page, "session 1").waitFor()
      const box = (number: number) => page.getByRole("checkbox", { name: `Select session ${number}` })
      const said = page.locator(bulk).locator("[role=status]")
      await box(5).click()
      await expect.poll(() => said.innerText()).toBe("1 session selected, 1 call")
      await box(3).click({ modifiers: ["Shift"] })
      await expect.poll(() => said.innerText()).toBe("3 sessions selected, 3 calls")
      await box(4).click()
      await expect.poll(() => said.innerText()).toBe("2 sessions selected, 2 calls")
      expect(await Promise.all([3, 4, 5].map((number) => box(number).isChecked()))).toEqual([true, false, true])
      await page.getByRole("button", { name: "Select all 6 shown" }).click()
      await expect.poll(() => said.innerText()).toBe("6 sessions selected, 7 calls")
      expect(await problemsOf(page)).toEqual([])
      await page.getByRole("checkbox", { name: "Select all that are shown" }).click()
      await expect.poll(() => said.count()).toBe(0)
      for (const key of ["j", "x", "j", "j", "X"]) await page.keyboard.press(key)
      await expect.poll(() => said.innerText()).toBe("3 sessions selected, 4 calls")
      await page.keyboard.press("Escape")
      await expect.poll(() => said.count()).toBe(0)
      await page.keyboard.press("A")
      await expect.poll(() => said.innerText()).toBe("6 sessions selected, 7 calls")
      await page.setViewportSize({ width: 400, height: 800 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400)
      expect(complaints).toEqual([])
    })

    it("are compared if they are two", async () => {
      const { page } = await visit("#/sessions")
      const compare = page.getByRole("button", { name: "Compare" })
      await page.getByRole("checkbox", { name: "Select session 2" }).click()
      await expect.poll(() => compare.isDisabled()).toBe(true)
      await page.getByRole("checkbox", { name: "Select session 4" }).click()
      await compare.click()
      await page.waitForURL((url) => url.hash === "#/diff/sessions?a=session+2&b=session+4")
      await page.getByText("0 equal messages, 2 different, 0 only in A, 0 only in B.").waitFor()
    })

    it("are exported into one file, which can be imported", async () => {
      const { page } = await visit("#/sessions")
      for (const number of [2, 6]) await page.getByRole("checkbox", { name: `Select session ${number}` }).click()
      const downloading = page.waitForEvent("download")
      await page.getByRole("button", { name: "Export" }).click()
      const download = await downloading
      expect(download.suggestedFilename()).toBe("tachograph-2-sessions.ndjson")
      const file = await readFile(await download.path(), "utf8")
      const lines = file
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      expect(
        lines
          .filter(({ type }) => type === "event")
          .map(({ session }) => session)
          .toSorted()
      ).toEqual(["session 2", "session 6", "session 6"])
      const other = await start()
      onTestFinished(() => other.close())
      const answer = await fetch(`${other.url}/api/v1/import`, {
        method: "POST",
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/x-ndjson" },
        body: file
      })
      expect((await answer.text()).trimEnd().split("\n").at(-1)).toContain('"failed":0')
      expect((await other.client.get("/api/v1/sessions/session%206")).body.events).toBe(2)
    })

    it("are erased after a confirmation that says what goes, with a receipt, and are gone", async () => {
      const { page, server } = await visit("#/sessions")
      const of = (number: number) => server.client.get(`/api/v1/sessions/session%20${number}`)
      for (const number of [1, 5, 6]) await page.getByRole("checkbox", { name: `Select session ${number}` }).click()
      const erase = page.getByRole("button", { name: "Erase…" })
      await erase.click()
      const dialog = page.getByRole("dialog", { name: "Erase 3 sessions?" })
      expect((await dialog.innerText()).replace(/\s+/g, " ")).toMatch(
        /4 calls .* session 6, 2 calls .*session 5, 1 call .*session 1, 1 call .*It cannot be undone/
      )
      expect(await problemsOf(page)).toEqual([])
      await dialog.getByRole("button", { name: "Cancel" }).click()
      await expect.poll(() => dialog.count()).toBe(0)
      expect((await of(5)).status).toBe(200)
      // One is erased meanwhile by somebody else.
      await erase.click()
      expect((await server.client.call("DELETE", "/api/v1/sessions/session%201")).status).toBe(200)
      await dialog.getByRole("button", { name: "Erase 3 sessions" }).click()
      const receipt = page.locator(".receipt")
      await receipt
        .getByText(/^Erased 3 calls, 2 sessions and \d+ pieces of payloads: [\d,]+ bytes of the storage\.$/)
        .waitFor()
      await receipt.getByText("session 1: There is no such session").waitFor()
      await expect.poll(() => rowOf(page, "session 6").count()).toBe(0)
      expect(await Promise.all([1, 2, 3, 4, 5, 6].map(async (number) => (await of(number)).status))).toEqual([
        404, 200, 200, 200, 404, 404
      ])
      expect((await server.client.get("/api/v1/events?session=session%206")).body.events).toEqual([])
      await receipt.getByRole("button", { name: "Close the receipt" }).click()
      await expect.poll(() => receipt.count()).toBe(0)
    })

    it("are erased one after the other, which says how far it is, and can be stopped", async () => {
      const { page, server } = await visit("#/sessions")
      let release = () => {}
      const held = new Promise<void>((resolve) => (release = resolve))
      await page.route("**/api/v1/sessions/*", async (route) => {
        if (route.request().method() === "DELETE") await held
        await route.continue()
      })
      await rowOf(page, "session 1").waitFor()
      await page.keyboard.press("A")
      await page.getByRole("button", { name: "Erase…" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Erase 6 sessions" }).click()
      await page.getByText("Erasing: 0 of 6…").waitFor()
      expect(await page.getByRole("button", { name: "Erase…" }).isDisabled()).toBe(true)
      await page.getByRole("button", { name: "Stop" }).click()
      // Until the server has answered, nothing else can begin, and there is no receipt to close.
      await page.getByRole("button", { name: "Stopping…" }).waitFor()
      expect(await page.getByRole("button", { name: "Erase…" }).isDisabled()).toBe(true)
      expect(await page.getByRole("button", { name: "Close the receipt" }).count()).toBe(0)
      release()
      await page.getByText("Stopped: 5 were left as they are.").waitFor()
      expect(await page.getByRole("button", { name: "Erase…" }).isDisabled()).toBe(false)
      const { body } = await server.client.get("/api/v1/sessions")
      expect(body.sessions.map(({ session }: { readonly session: string }) => session)).toEqual([
        "session 5",
        "session 4",
        "session 3",
        "session 2",
        "session 1"
      ])
    })

    it("leave out of an export what cannot be read, and say so", async () => {
      const { page, server } = await visit("#/sessions")
      for (const number of [2, 4]) await page.getByRole("checkbox", { name: `Select session ${number}` }).click()
      // Cut before its last line.
      await page.route("**/api/v1/export?session=session+4", async (route) => {
        const answer = await server.client.get("/api/v1/export?session=session+4")
        const body = answer.text.trimEnd().split("\n").slice(0, -1).join("\n")
        await route.fulfill({ contentType: "application/x-ndjson", body })
      })
      const downloading = page.waitForEvent("download")
      await page.getByRole("button", { name: "Export" }).click()
      const download = await downloading
      expect(download.suggestedFilename()).toBe("tachograph-1-session.ndjson")
      expect(await readFile(await download.path(), "utf8")).not.toContain("session 4")
      await page.getByRole("alert").getByText("Not exported: session 4 (").waitFor()
    })

    it("cannot be erased by a key without the scope admin, and say so", async () => {
      const { page } = await visit("#/sessions", undefined, ["record", "read"])
      await page.getByRole("checkbox", { name: "Select session 2" }).click()
      await page.getByText("Erasing needs a key with the scope admin.").waitFor()
      expect(await page.getByRole("button", { name: "Erase…" }).isDisabled()).toBe(true)
    })
  })

  describe("a person", () => {
    it("is erased after a confirmation that says what goes, and the page shows that they are gone", async () => {
      const { page, server } = await visit("#/people/ada")
      await page.getByRole("button", { name: "Erase this person…" }).click()
      const dialog = page.getByRole("dialog", { name: "Erase this person?" })
      await dialog.getByText("ada, their properties, and 4 calls in 3 sessions go for good").waitFor()
      expect(await problemsOf(page)).toEqual([])
      await dialog.getByRole("button", { name: "Erase this person" }).click()
      await page
        .locator(".receipt")
        .getByText(/^Erased 4 calls, 3 sessions and /)
        .waitFor()
      await page.getByText("knows nobody of this id.").waitFor()
      await page.getByText("person-erased").waitFor()
      expect(await problemsOf(page)).toEqual([])
      expect((await server.client.get("/api/v1/people/ada")).status).toBe(404)
      expect((await server.client.get("/api/v1/events?person=ada")).body.events).toEqual([])
      expect((await server.client.get("/api/v1/people/bob")).status).toBe(200)
      await page.getByRole("link", { name: "The list of their sessions" }).click()
      await page.getByText("No session matches").waitFor()
    })
  })
}
