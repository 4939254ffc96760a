import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openWithKey, useBrowser } from "./Browser.ts"
import { Conversation, registered, text, user } from "./Conversation.ts"
import { apiKey, type Server, start } from "./Server.ts"
import * as Spans from "./Spans.ts"

useBrowser()
let server: Server
let fingerprintId: string
beforeAll(async () => {
  server = await start()
  fingerprintId = await registered(server.client)
})
afterAll(() => server.close())

const visit = (place: string) => openWithKey(`${server.url}/viewer/${place}`, apiKey)

describe("a session of 10,000 messages", () => {
  const count = 10_000

  beforeAll(async () => {
    const conversation = new Conversation(server.client, fingerprintId, "long")
    // Five calls, each of which adds 2,000 messages.
    for (let first = 0; first < count; first += 2_000) {
      const messages = Array.from({ length: 1_999 }, (_, index) => {
        const number = first + index + 1
        return number % 2 === 0
          ? { role: "assistant", content: [text(`Message ${number}`)] }
          : user(`Message ${number}`)
      })
      await conversation.call(messages, [text(`Message ${first + 2_000}`)])
    }
  })

  it("is there with few elements, and its end is found and reached", async () => {
    const { complaints, page } = await visit("#/sessions/long")
    await page.getByText("Message 1", { exact: true }).first().waitFor()
    const rows = () => page.locator(".list-row").count()
    expect(await rows()).toBeLessThan(100)
    await page.keyboard.press("Control+f")
    await page.getByRole("textbox", { name: "Find in this page" }).fill(`message ${count}`)
    await expect.poll(() => page.locator(".find output").innerText()).toBe("1 of 1")
    await page.locator(".said").getByText(`Message ${count}`, { exact: true }).waitFor()
    expect(await rows()).toBeLessThan(100)
    expect(complaints).toEqual([])
  })

  it("opens at a message that the place names", async () => {
    const { page } = await visit("#/sessions/long?message=7654")
    await page.locator(".row.selected").getByText("Message 7654", { exact: true }).waitFor()
  })

  it("fills the window wherever it is scrolled to", async () => {
    const { page } = await visit("#/sessions/long")
    await page.getByText("Message 1", { exact: true }).first().waitFor()
    await expect.poll(() => page.getByText("Loading the rest…").count()).toBe(0)
    for (const part of [0.1, 0.5, 0.9, 1]) {
      await page
        .locator(".scroller")
        .evaluate((element, part) => element.scrollTo(0, part * element.scrollHeight), part)
      await expect
        .poll(() =>
          page.evaluate(() => {
            const { bottom, left, top } = document.querySelector(".scroller")!.getBoundingClientRect()
            const at = (y: number) =>
              document.elementFromPoint(left + 300, y)?.closest(".list-row, .scroller")?.className
            return [at((top + bottom) / 2)]
          })
        )
        .toEqual(["list-row"])
    }
  })
})

describe("a session of 10,000 steps", () => {
  beforeAll(async () => {
    const asked = Spans.says("assistant", Spans.asks("id 9999", "read", {}))
    const tool = (number: number): Spans.Told => ({
      ...{ trace: 1, id: number + 2, parent: 1, name: `read ${number}`, at: [10 + number, 20 + number] },
      attributes: Spans.ran("read", `id ${number}`, { "gen_ai.tool.call.result": "A line.\n".repeat(100) })
    })
    await Spans.told(server.client, "steps", [
      { trace: 1, id: 1, name: "chat", at: [0, 5], attributes: Spans.chat([], asked) },
      ...Array.from({ length: 10_000 }, (_, number) => tool(number))
    ])
  })

  it("has few elements, finds the last one, and knows which of them a message asked for", async () => {
    const { complaints, page } = await visit("#/sessions/steps?view=timeline")
    await page.getByText("1 call, 10,000 steps").waitFor()
    expect(await page.locator(".list-row").count()).toBeLessThan(100)
    await page.keyboard.press("Control+f")
    await page.getByRole("textbox", { name: "Find in this page" }).fill("read 9999")
    await expect.poll(() => page.locator(".find output").innerText()).toBe("1 of 1")
    await page.locator("summary").getByText("read 9999", { exact: true }).click()
    await page.locator(".timeline .fold").getByText("id 9999").waitFor()
    await page.getByRole("button", { name: "Conversation" }).click()
    await page.locator(".tool > summary").getByText("10 ms").waitFor()
    expect(complaints).toEqual([])
  })
})

describe("an event of 12 MB", () => {
  const bytes = 12_000_000
  let id: string
  let inputs: string

  beforeAll(async () => {
    const conversation = new Conversation(server.client, fingerprintId, "large")
    const line = `A line of a log with "quotes", \\backslashes\\ and an é.\n`
    id = await conversation.call([user(`${line.repeat(bytes / 57)}The needle is here.`)], [text("Long.")])
    inputs = (await server.client.get(`/api/v1/events/${id}/inputs`)).text
    expect(Buffer.byteLength(inputs)).toBeGreaterThan(0.95 * bytes)
  })

  it("is shown as bytes, and searched, without holding the page up", async () => {
    const { complaints, page } = await visit(`#/events/${id}?tab=raw`)
    await page.locator(".raw-row").first().waitFor({ timeout: 60_000 })
    expect(inputs.startsWith(await page.locator(".raw-row").first().innerText())).toBe(true)
    expect(await page.locator(".raw-row").count()).toBeLessThan(200)
    await page.keyboard.press("Control+f")
    await page.getByRole("textbox", { name: "Find in this page" }).fill("NEEDLE")
    await expect.poll(() => page.locator(".find output").innerText()).toBe("1 of 1")
    // A row may be cut within the words.
    await expect
      .poll(() =>
        page
          .locator(".raw-rows")
          .innerText()
          .then((shown) => shown.replaceAll("\n", ""))
      )
      .toContain("needle is here")
    expect(complaints).toEqual([])
  })

  it("is opened as a tree, with its long texts cut", async () => {
    const { page } = await visit(`#/events/${id}?tab=json`)
    await page.locator(".json").getByText("claude-sonnet-4-5").waitFor({ timeout: 60_000 })
    await page.getByText(/array, \d+ MB/).waitFor()
  })

  it("asks before it reads all of the call", async () => {
    const { page } = await visit(`#/events/${id}?tab=input`)
    await page.getByText(/This call has \d+ MB/).waitFor()
  })
})
