import { describe, expect, it, onTestFinished } from "vitest"
import { goTo, openWithKey } from "../Browser.ts"
import { Conversation, recorded, registered, result, text, tool, user } from "../Conversation.ts"
import { apiKey, start } from "../Server.ts"
import type { World } from "./World.ts"

export const define = (world: World) => {
  describe("a session", () => {
    it("says how many calls it holds, and where its history was rewritten", async () => {
      const { page } = await world.visit(world.sessionPlace)
      await page.getByText("4 calls").waitFor()
      await page.getByText(/History rewritten: \d+ messages? gone, 1 kept/).waitFor()
      await page.getByText("Failed: overloaded_error").waitFor()
    })

    it("shows a tool's call and its answer on one line, which opens", async () => {
      const { page } = await world.visit(world.sessionPlace)
      const line = page.locator("details.tool summary").first()
      await line.waitFor()
      expect((await line.innerText()).replace(/\s+/g, " ")).toContain("read_file notes/june.md # June The lighthouse")
      await line.click()
      await page.locator(".fold").getByText("# June\n\nThe lighthouse was painted white.").waitFor()
      // The message that holds the answer is not shown again.
      expect(await page.getByText("Answer of a tool").count()).toBe(0)
    })

    it("moves by keys: calls, rewrites, errors; what is selected is in the place", async () => {
      const { page } = await world.visit(world.sessionPlace)
      await page.getByText("4 calls").waitFor()
      const selected = () => new URL(page.url()).hash.split("?")[1] ?? ""
      await page.keyboard.press("n")
      await expect.poll(selected).toBe(`call=${world.ids[0]}`)
      await page.keyboard.press("n")
      await expect.poll(selected).toBe(`call=${world.ids[1]}`)
      await page.keyboard.press("p")
      await expect.poll(selected).toBe(`call=${world.ids[0]}`)
      await page.keyboard.press("e")
      await expect.poll(selected).toBe(`call=${world.ids[2]}`)
      await page.keyboard.press("N")
      await expect.poll(selected).toBe(`call=${world.ids[3]}`)
      await page.keyboard.press("Enter")
      await page.waitForURL((url) => url.hash === `#/events/${world.ids[3]}`)
      await page.getByText("What is gone").waitFor()
      await page.keyboard.press("Escape")
      await expect.poll(selected).toBe(`call=${world.ids[3]}`)
    })

    it("opens at the call that the place names, wherever it is", async () => {
      const long = new Conversation(world.server.client, world.fingerprintId, "many calls")
      const calls: Array<string> = []
      for (let number = 1; number <= 30; number++) {
        calls.push(await long.call([user(`Line\n`.repeat(10))], [text(`Answer ${number}`)]))
      }
      const { page } = await world.visit(`#/sessions/many%20calls?call=${calls[24]}`)
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
      const { page } = await world.visit(world.sessionPlace)
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

    it("finds what a long text says beyond its first part, and within answers that are folded", async () => {
      const long = new Conversation(world.server.client, world.fingerprintId, "long texts")
      const lines = "A line of many.\n".repeat(2_000)
      await long.call([user(`${lines}The needle is here.`)], [text("Good.")])
      await long.call([result("unknown", `${lines}A second needle.`)], [text("Good.")])
      const { page } = await world.visit("#/sessions/long%20texts")
      await page.locator(".said").getByText("Good.").first().waitFor()
      await page.keyboard.press("Control+f")
      await page.getByRole("textbox", { name: "Find in this page" }).fill("needle")
      await expect.poll(() => page.locator(".find output").innerText()).toBe("1 of 2")
      const inView = (said: string) => expect.poll(() => page.getByText(said).isVisible()).toBe(true)
      await inView("The needle is here.")
      await page.keyboard.press("Enter")
      await inView("A second needle.")
    })

    it("leaves Ctrl+F to the browser in the table, which is whole", async () => {
      const { page } = await world.visit(`${world.sessionPlace}?view=table`)
      await page.locator(".calls-table").waitFor()
      await page.keyboard.press("Control+f")
      expect(await page.locator(".find").count()).toBe(0)
      await page.keyboard.press("/")
      await page.getByRole("textbox", { name: "Find in this page" }).fill("lighthouse")
      await expect.poll(() => page.locator(".find output").innerText()).toMatch(/^1 of/)
    })

    it("says which tools failed", async () => {
      const conversation = new Conversation(world.server.client, world.fingerprintId, "failed tools")
      await conversation.call([user("Read")], [tool("t1", "read_file", {}), tool("t2", "list_files", {})])
      const failed = { type: "tool_result", tool_use_id: "t1", content: "no such file", is_error: true }
      const worked = { type: "tool_result", tool_use_id: "t2", content: "a.md" }
      await conversation.call([{ role: "user", content: [failed, worked] }], [text("There is none.")])
      const { page } = await world.visit("#/sessions/failed%20tools")
      const lines = page.locator("details.tool > summary")
      await lines.nth(1).waitFor()
      const shown = (await lines.allInnerTexts()).map((line) => line.replace(/\s+/g, " "))
      expect(shown.map((line) => line.includes("failed"))).toEqual([true, false])
    })

    it("opens the row that the keys select, and not what was clicked before", async () => {
      const { page } = await world.visit(world.sessionPlace)
      await page.getByRole("button", { name: "1 failed" }).click()
      await page.waitForURL((url) => url.hash.includes(`call=${world.ids[2]}`))
      await page.keyboard.press("n")
      await page.keyboard.press("Enter")
      await page.waitForURL((url) => url.hash === `#/events/${world.ids[3]}`)
      await page.locator(".event-head").waitFor()
      await page.keyboard.press("Escape")
      await page.waitForURL((url) => url.hash === `${world.sessionPlace}?call=${world.ids[3]}`)
    })

    it("shows what of a call the cache failed beside it at 1024 pixels, and its tools as on or off", async () => {
      const { page } = await world.visit(world.sessionPlace, { width: 1024, height: 800 })
      await page.getByRole("complementary", { name: "About this session" }).waitFor()
      expect(await page.getByRole("button", { name: "Cost and cache" }).isVisible()).toBe(false)
      const tool = page.getByRole("group", { name: "Shown" }).getByRole("button", { name: "Thinking" })
      for (const isOn of ["true", "false"]) {
        await tool.click()
        expect(await tool.getAttribute("aria-pressed")).toBe(isOn)
      }
      const view = page.getByRole("group", { name: "View" })
      await view.getByRole("button", { name: "Table" }).click()
      await page.locator(".calls-table").waitFor()
      expect(await view.locator("[aria-pressed=true]").allInnerTexts()).toEqual(["Table"])
      await view.getByRole("button", { name: "Conversation" }).click()
      await page.locator(".calls-table").waitFor({ state: "detached" })
    })

    it("says what is beside it where the page is narrow", async () => {
      const { page } = await world.visit(world.sessionPlace, { width: 700, height: 800 })
      const side = page.getByRole("complementary", { name: "About this session" })
      await page.getByRole("button", { name: "Cost and cache" }).click()
      await side.getByRole("heading", { name: "Sent again most" }).waitFor()
      await page.keyboard.press("Escape")
      await side.waitFor({ state: "hidden" })
      expect(page.url()).toContain(world.sessionPlace)
      await goTo(page, `#/events/${world.ids[0]}`)
      await page.getByRole("complementary", { name: "Facts of the call" }).waitFor()
    })

    it("marks the selected call in the table, which the keys of the stream move along", async () => {
      const { page } = await world.visit(`${world.sessionPlace}?view=table`)
      await page.locator(".calls-table").waitFor()
      const marked = () => page.locator(".calls-table tr[aria-current] td").first().innerText()
      for (const [key, call] of [
        ["n", "1"],
        ["j", "2"],
        ["e", "3"],
        ["k", "2"]
      ] as const) {
        await page.keyboard.press(key)
        await expect.poll(marked).toBe(call)
      }
    })

    it("says that no message was found in calls of a shape that is not known", async () => {
      const server = await start()
      onTestFinished(() => server.close())
      const fields = { fingerprint_id: await registered(server.client), session: "strange" }
      await recorded(server.client, fields, {
        api: "provider2-messages",
        inputs: { question: 1 },
        output: { answer: 2 }
      })
      const { page } = await openWithKey(`${server.url}/viewer/#/sessions/strange`, apiKey)
      await page.getByText("No message was found").waitFor()
    })

    it("leaves the second Ctrl+F to the browser", async () => {
      const { page } = await world.arrive(world.sessionPlace)
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
      const growing = new Conversation(world.server.client, world.fingerprintId, "growing")
      await growing.call([user("First question")], [text("First answer")])
      const { page } = await world.visit("#/sessions/growing")
      await page.locator(".said").getByText("First answer").waitFor()
      await growing.call([user("Second question")], [text("Second answer")])
      await page.locator(".said").getByText("Second answer").waitFor()
      await page.getByText("2 calls").waitFor()
    })

    it("prints all of the conversation, and nothing of the frame", async () => {
      const { page } = await world.arrive(world.sessionPlace)
      await page.getByText("4 calls").waitFor()
      await page.emulateMedia({ media: "print" })
      await page.locator(".printed").waitFor()
      await page.locator(".said").getByText("July was quiet.").waitFor()
      expect(await page.locator("header.top").isVisible()).toBe(false)
    })
  })
}
