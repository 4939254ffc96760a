import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { problemsOf } from "./Accessibility.ts"
import { open, useBrowser } from "./Browser.ts"
import { Conversation, recordRun, registered, text, user } from "./Conversation.ts"
import { type Server, start } from "./Server.ts"

useBrowser()
let server: Server
let ids: ReadonlyArray<string>
let fingerprintId: string
let otherFingerprintId: string

const session = "run / ü"

beforeAll(async () => {
  server = await start()
  fingerprintId = await registered(server.client)
  otherFingerprintId = await registered(server.client, { "left-pad": "1.3.0", effect: "4.1.0" })
  const fields = { agent: "keeper", agent_version: "1.4", person: "ada" }
  ids = await recordRun(new Conversation(server.client, fingerprintId, session, fields))
  const next = new Conversation(server.client, fingerprintId, "the next version", { ...fields, agent_version: "1.5" })
  next.system = "You are a bold agent."
  await next.call([user("Who are you?")], [text("A bold agent.")])
  const copied = new Conversation(server.client, otherFingerprintId, "the same prompt", { agent: "copyist" })
  await copied.call([user("Copy")], [text("Copied")])
  await server.client.put("/api/v1/people/ada", { properties: { team: "lighthouse" } })
  for (let number = 1; number <= 40; number++) {
    const other = new Conversation(server.client, fingerprintId, `other ${number}`)
    await other.call([user(`Question ${number}`)], [text(`Answer ${number}`)])
  }
})
afterAll(() => server.close())

const sessionPlace = `#/sessions/${encodeURIComponent(session)}`

/** Opens a place with the key, as a person who was here before. */
const visit = async (place: string, options = {}) => {
  const opened = await open(server.viewer(), options)
  await opened.page.getByRole("heading", { name: "Sessions" }).waitFor()
  await opened.page.goto(`${server.url}/viewer/${place}`)
  return opened
}

const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name })

const places: ReadonlyArray<readonly [name: string, place: () => string, shows: string]> = [
  ["sessions", () => "#/sessions", "other 40"],
  ["a session", () => sessionPlace, "The lighthouse was painted"],
  ["the table of calls", () => `${sessionPlace}?view=table`, "rewritten"],
  ["what a call added", () => `#/events/${ids[1]}`, "Answer of a tool"],
  ["a call with a rewritten history", () => `#/events/${ids[3]}`, "History rewritten"],
  ["all that a call sent", () => `#/events/${ids[1]}?tab=input`, "read_file"],
  ["the answer", () => `#/events/${ids[1]}?tab=answer`, "The lighthouse was painted"],
  ["the settings", () => `#/events/${ids[1]}?tab=settings`, "You are a careful agent."],
  ["the settings, compared", () => `#/events/${ids[1]}?tab=settings&diff=1`, "The same in both."],
  ["the JSON", () => `#/events/${ids[0]}?tab=json`, "claude-sonnet-4-5"],
  ["the bytes", () => `#/events/${ids[0]}?tab=raw`, "SHA-256"],
  ["calls as they come", () => "#/live", "Calls appear as they are recorded"],
  ["the agents", () => "#/agents", "keeper"],
  ["an agent", () => "#/agents/keeper", "You are a bold agent."],
  ["two versions, compared", () => "#/agents/keeper/compare?from=1.4&to=1.5", "bold"],
  ["the people", () => "#/people", "team: lighthouse"],
  ["a person", () => "#/people/ada", "Their sessions"],
  ["a runtime", () => `#/fingerprints/${fingerprintId}`, "typescript"],
  ["the runtimes", () => "#/fingerprints", "typescript 7, linux"],
  ["two runtimes, compared", () => `#/fingerprints/${otherFingerprintId}?with=${fingerprintId}`, "left-pad"],
  ["a person that does not exist", () => "#/people/nobody", "There is no such person"],
  ["an agent that does not exist", () => "#/agents/nobody", "There is no such agent"],
  ["the overview", () => "#/overview", "claude-sonnet-4-5"],
  ["what was searched for", () => "#/search?q=lighthouse", "first said"],
  ["a session that does not exist", () => "#/sessions/none", "There is no such session"],
  ["a call that does not exist", () => "#/events/00000000-0000-7000-8000-000000000000", "There is no such call"],
  ["a page that does not exist", () => "#/nothing", "There is no such page"]
]

describe.each(["light", "dark"] as const)("in the %s theme", (colorScheme) => {
  it.each(places)(
    "shows %s, accessibly, at any width, and asks nobody else for anything",
    async (_name, place, shows) => {
      const { complaints, foreign, page } = await visit(place(), { colorScheme })
      await page.getByText(shows).filter({ visible: true }).first().waitFor()
      expect(await problemsOf(page)).toEqual([])
      for (const width of [400, 2560]) {
        await page.setViewportSize({ width, height: 900 })
        await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
      }
      expect([complaints, foreign]).toEqual([[], []])
    }
  )
})

describe("the list of sessions", () => {
  it("shows the id beside the title, and what the calls add up to", async () => {
    const { page } = await visit("#/sessions?agent=keeper")
    const row = rowOf(page, session)
    await row.waitFor()
    const shown = await row.innerText()
    for (const part of [session, "keeper", "1.4 · ada", "1 failed"]) expect(shown).toContain(part)
    expect(await page.getByRole("row").count()).toBe(3)
  })

  it("is moved along and opened by keys, and going back restores filters and scroll", async () => {
    const { page } = await visit("#/sessions")
    await rowOf(page, "other 40").waitFor()
    for (let step = 0; step < 30; step++) await page.keyboard.press("j")
    const id = await page.locator("tr[aria-current] .id").innerText()
    const scrolled = await page.evaluate(() => scrollY)
    expect(scrolled).toBeGreaterThan(0)
    await page.keyboard.press("Enter")
    await page.locator(".said").getByText(id.replace("other", "Answer"), { exact: true }).waitFor()
    await page.goBack()
    await rowOf(page, "other 40").waitFor()
    await page.waitForFunction((scrolled) => Math.abs(scrollY - scrolled) < 5, scrolled)
  })

  it("filters by what the place says", async () => {
    const { page } = await visit("#/sessions")
    await rowOf(page, "other 40").waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("keeper")
    await page.keyboard.press("Enter")
    await page.waitForURL(/agent=keeper/)
    await expect.poll(() => page.getByRole("row").count()).toBe(3)
    await page.goBack()
    await expect.poll(() => page.getByRole("row").count()).toBe(44)
  })
})

describe("a session", () => {
  it("says how many calls it holds, and where its history was rewritten", async () => {
    const { page } = await visit(sessionPlace)
    await page.getByText("4 calls").waitFor()
    await page.getByText(/History rewritten: \d+ messages gone, 1 kept/).waitFor()
    await page.getByText("Failed: overloaded_error").waitFor()
  })

  it("shows a tool's call and its answer on one line, which opens", async () => {
    const { page } = await visit(sessionPlace)
    const line = page.locator("details.tool summary").first()
    await line.waitFor()
    expect((await line.innerText()).replace(/\s+/g, " ")).toContain("read_file notes/june.md # June The lighthouse")
    await line.click()
    await page.locator(".fold").getByText("# June\n\nThe lighthouse was painted white.").waitFor()
    // The message that holds the answer is not shown again.
    expect(await page.getByText("Answer of a tool").count()).toBe(0)
  })

  it("moves by keys: calls, rewrites, errors; what is selected is in the place", async () => {
    const { page } = await visit(sessionPlace)
    await page.getByText("4 calls").waitFor()
    const selected = () => new URL(page.url()).hash.split("?")[1] ?? ""
    await page.keyboard.press("n")
    await expect.poll(selected).toBe(`call=${ids[0]}`)
    await page.keyboard.press("n")
    await expect.poll(selected).toBe(`call=${ids[1]}`)
    await page.keyboard.press("p")
    await expect.poll(selected).toBe(`call=${ids[0]}`)
    await page.keyboard.press("e")
    await expect.poll(selected).toBe(`call=${ids[2]}`)
    await page.keyboard.press("N")
    await expect.poll(selected).toBe(`call=${ids[3]}`)
    await page.keyboard.press("Enter")
    await page.waitForURL((url) => url.hash === `#/events/${ids[3]}`)
    await page.getByText("What is gone").waitFor()
    await page.keyboard.press("Escape")
    await expect.poll(selected).toBe(`call=${ids[3]}`)
  })

  it("opens at the call that the place names, wherever it is", async () => {
    const long = new Conversation(server.client, fingerprintId, "many calls")
    const calls: Array<string> = []
    for (let number = 1; number <= 30; number++) {
      calls.push(await long.call([user(`Line\n`.repeat(10))], [text(`Answer ${number}`)]))
    }
    const { page } = await visit(`#/sessions/many%20calls?call=${calls[24]}`)
    await page.locator(".row.selected").getByText("Call 25").waitFor()
    await expect
      .poll(() =>
        page.locator(".row.selected").evaluate((row) => {
          const { bottom, top } = row.getBoundingClientRect()
          const view = row.closest(".scroller")!.getBoundingClientRect()
          return view.top <= top && bottom <= view.bottom
        })
      )
      .toBe(true)
  })

  it("finds what is folded, counts it, and wraps round", async () => {
    const { page } = await visit(sessionPlace)
    await page.getByText("4 calls").waitFor()
    await page.keyboard.press("Control+f")
    await page.getByRole("textbox", { name: "Find in this page" }).fill("LIGHTHOUSE")
    const count = page.locator(".find output")
    await expect.poll(() => count.innerText()).toMatch(/^1 of [3-9]$/)
    const total = Number((await count.innerText()).split(" ").at(-1))
    for (let step = 1; step < total; step++) await page.keyboard.press("Enter")
    await expect.poll(() => count.innerText()).toBe(`${total} of ${total}`)
    await page.keyboard.press("Enter")
    await expect.poll(() => count.innerText()).toBe(`1 of ${total}`)
    await page.keyboard.press("Escape")
    await expect.poll(() => page.locator(".find").count()).toBe(0)
  })

  it("leaves the second Ctrl+F to the browser", async () => {
    const { page } = await visit(sessionPlace)
    await page.getByText("4 calls").waitFor()
    await page.evaluate(() => {
      const seen: Array<boolean> = []
      Object.assign(globalThis, { seen })
      addEventListener("keydown", (event) => event.key === "f" && setTimeout(() => seen.push(event.defaultPrevented)))
    })
    await page.keyboard.press("Control+f")
    await page.getByRole("textbox", { name: "Find in this page" }).waitFor()
    await page.evaluate(() => (document.activeElement as HTMLElement).blur())
    await page.keyboard.press("Control+f")
    await expect
      .poll(() => page.evaluate(() => (globalThis as unknown as { readonly seen: ReadonlyArray<boolean> }).seen))
      .toEqual([true, false])
  })

  it("shows a new call while it is looked at", async () => {
    const growing = new Conversation(server.client, fingerprintId, "growing")
    await growing.call([user("First question")], [text("First answer")])
    const { page } = await visit("#/sessions/growing")
    await page.locator(".said").getByText("First answer").waitFor()
    await growing.call([user("Second question")], [text("Second answer")])
    await page.locator(".said").getByText("Second answer").waitFor()
    await page.getByText("2 calls").waitFor()
  })

  it("prints all of the conversation, and nothing of the frame", async () => {
    const { page } = await visit(sessionPlace)
    await page.getByText("4 calls").waitFor()
    await page.emulateMedia({ media: "print" })
    await page.locator(".printed").waitFor()
    expect(await page.locator(".said").getByText("July was quiet.").isVisible()).toBe(true)
    expect(await page.locator("header.top").isVisible()).toBe(false)
  })
})

describe("a call", () => {
  it("shows the exact bytes, with their digest", async () => {
    const { page } = await visit(`#/events/${ids[0]}?tab=raw`)
    const inputs = await server.client.get(`/api/v1/events/${ids[0]}/inputs`)
    await page.locator(".raw-row").first().waitFor()
    const rows = await page.locator(".raw-row").allInnerTexts()
    expect(rows.join("")).toBe(inputs.text)
    const digest = Buffer.from(/:(.+):/.exec(inputs.headers.get("repr-digest")!)![1]!, "base64").toString("hex")
    expect(await page.locator(".digest code").innerText()).toBe(digest)
  })

  it("goes to its neighbours and back to the session by keys", async () => {
    const { page } = await visit(`#/events/${ids[1]}`)
    await page.getByText("Answer of a tool").waitFor()
    await page.keyboard.press("n")
    await page.waitForURL((url) => url.hash.includes(ids[2]!))
    await page.getByText("And in July?").waitFor()
    await page.keyboard.press("p")
    await page.waitForURL((url) => url.hash.includes(ids[1]!))
    await page.getByText("Answer of a tool").waitFor()
    await page.keyboard.press("f")
    await page.waitForURL(/tab=input/)
  })

  it("lists all keys that do something, and switches them off", async () => {
    const { page } = await visit(`#/events/${ids[1]}`)
    await page.getByText("Answer of a tool").waitFor()
    await page.keyboard.press("?")
    const dialog = page.getByRole("dialog", { name: "Keys" })
    await dialog.getByText("Next call of the session").waitFor()
    expect(await problemsOf(page)).toEqual([])
    await dialog.getByRole("checkbox").click()
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    await page.keyboard.press("f")
    expect(await dialog.isVisible()).toBe(false)
    expect(page.url()).not.toContain("tab=")
  })
})

describe("the other pages", () => {
  it("show a call as it is recorded", async () => {
    const { page } = await visit("#/live")
    await page.getByText("other 40").waitFor()
    await new Conversation(server.client, fingerprintId, "just now").call([user("Now?")], [text("Now.")])
    await page.getByRole("link", { name: "just now" }).click()
    await page.locator(".said").getByText("Now.", { exact: true }).waitFor()
  })

  it("search what was said, and open the call that said it first", async () => {
    const { page } = await visit("#/search")
    await page.locator("input[type=search]:focus").waitFor()
    await page.keyboard.type("JULY WAS")
    await page.keyboard.press("Enter")
    await page.locator("mark").getByText("July was").waitFor()
    await page.getByRole("link", { name: session }).click()
    await page.waitForURL((url) => url.hash.includes(`call=${ids[3]}`))
  })

  it("say when nobody said it", async () => {
    const { page } = await visit("#/search?q=submarine")
    await page.getByText("Nobody said this").waitFor()
  })

  it("compare the prompts of two versions word by word", async () => {
    const { page } = await visit("#/agents/keeper")
    await page.getByRole("link", { name: "Compare 1.4 with 1.5" }).click()
    await page.locator("del").getByText("careful").waitFor()
    await page.locator("ins").getByText("bold").waitFor()
  })

  it("are gone to by keys, and opened by keys", async () => {
    const { page } = await visit("#/sessions")
    for (const [key, title] of [
      ["a", "Agents"],
      ["o", "Overview"],
      ["p", "People"]
    ] as const) {
      await page.keyboard.press("g")
      await page.keyboard.press(key)
      await page.getByRole("heading", { name: title, exact: true }).waitFor()
    }
    await rowOf(page, "ada").waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.waitForURL((url) => url.hash === "#/people/ada")
    await page.getByText("lighthouse", { exact: true }).waitFor()
    await page.getByRole("link", { name: "Who are you?" }).click()
    await page.locator(".said").getByText("A bold agent.").waitFor()
  })

  it("say which versions used a prompt, and which are deprecated", async () => {
    const { status } = await server.client.post("/api/v1/agents/keeper/agent-versions/1.4/deprecate", {})
    expect(status).toBe(200)
    const { page } = await visit("#/agents/keeper")
    await rowOf(page, "deprecated").getByRole("link", { name: "1.4" }).waitFor()
    const prompts = page.locator(".prompts tbody tr")
    await expect.poll(() => prompts.count()).toBe(2)
    expect((await prompts.nth(0).innerText()).replace(/\s+/g, " ")).toContain("You are a bold agent. 21 characters 1.5")
    expect((await prompts.nth(1).innerText()).replace(/\s+/g, " ")).toContain(
      "You are a careful agent. 24 characters 1.4"
    )
  })

  it("compare what a call of two versions took", async () => {
    const { page } = await visit("#/agents/keeper/compare?from=1.4&to=1.5")
    // The list of sessions, which is shown before, has rows that say so too.
    await page.getByRole("heading", { name: "Each call" }).waitFor()
    const shown = await rowOf(page, "Failed").last().innerText()
    expect(shown.replace(/\s+/g, " ")).toBe("Failed 25% 0% −100%")
    expect((await rowOf(page, "Duration, p50").innerText()).replace(/\s+/g, " ")).toContain("1.2 s 1.2 s the same")
  })

  it("say who used a runtime, and which packages it has that another has not", async () => {
    const { page } = await visit(`#/fingerprints/${otherFingerprintId}`)
    await rowOf(page, "copyist").waitFor()
    await page.getByRole("combobox").selectOption(fingerprintId)
    await page.waitForURL((url) => url.hash.endsWith(`?with=${fingerprintId}`))
    await expect.poll(() => page.locator(".packages ins").allInnerTexts()).toEqual(["4.1.0", "1.3.0"])
    await page.goBack()
    await expect.poll(() => page.locator(".packages").count()).toBe(0)
  })

  it("say that a key may not read", async () => {
    const recording = await start(undefined, ["record"])
    onTestFinished(() => recording.close())
    const { page } = await open(`${recording.url}/viewer/`)
    for (const place of ["agents", "people", "fingerprints", "overview"]) {
      await page.goto(`${recording.url}/viewer/#/${place}`)
      await page.reload()
      await page.getByText("This key may not read").first().waitFor()
    }
  })

  it("say that nothing is recorded yet", async () => {
    const fresh = await start()
    onTestFinished(() => fresh.close())
    const { page } = await open(fresh.viewer())
    for (const [place, shows] of [
      ["agents", "Nothing is recorded yet"],
      ["people", "Nobody is known yet"],
      ["fingerprints", "No program has registered yet"],
      ["overview", "Nothing was recorded in this time"]
    ] as const) {
      await page.getByRole("navigation").waitFor()
      await page.goto(`${fresh.url}/viewer/#/${place}`)
      await page.getByText(shows).waitFor()
    }
  })
})
