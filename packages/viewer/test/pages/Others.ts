import { describe, expect, it, onTestFinished } from "vitest"
import { open } from "../Browser.ts"
import { Conversation, text, user } from "../Conversation.ts"
import { start } from "../Server.ts"
import { rowOf, type World } from "./World.ts"

export const define = (world: World) => {
  describe("the other pages", () => {
    it("show a call as it is recorded", async () => {
      const { page } = await world.visit("#/live")
      await page.getByText("other 40").waitFor()
      await new Conversation(world.server.client, world.fingerprintId, "just now").call([user("Now?")], [text("Now.")])
      await page.getByRole("link", { name: "just now" }).click()
      await page.locator(".said").getByText("Now.", { exact: true }).waitFor()
    })

    it("are gone to by keys, and opened by keys", async () => {
      const { page } = await world.visit("#/sessions")
      await rowOf(page, "other 40").waitFor()
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

    it("add up hours and days, each of which leads to its sessions", async () => {
      const { page } = await world.visit("#/overview", { timezoneId: "UTC" })
      const period = page.getByRole("navigation", { name: "Period" })
      for (const [title, slot] of [
        ["24 hours", "Hour"],
        ["7 days", "Day"]
      ] as const) {
        await period.getByRole("link", { name: title }).click()
        await page.getByRole("columnheader", { name: slot, exact: true }).waitFor()
        await page.locator(".chart rect").first().waitFor()
        await page.getByRole("region", { name: slot }).getByRole("link").first().click()
        await rowOf(page, "other 40").waitFor()
        const { searchParams } = new URL(page.url().replace("#/", ""))
        const length = Date.parse(searchParams.get("before")!) - Date.parse(searchParams.get("after")!)
        expect([title, length / 3_600_000]).toEqual([title, slot === "Hour" ? 1 : 24])
        await page.goBack()
      }
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
}
