import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { open, useBrowser } from "./Browser.ts"
import { apiKey, type Server, start } from "./Server.ts"

useBrowser()
let server: Server
beforeAll(async () => void (server = await start()))
afterAll(() => server.close())

describe("the frame", () => {
  it("takes the key of the link, removes it from the address, and keeps it until the tab is closed", async () => {
    const { complaints, page } = await open(server.viewer())
    await page.getByRole("heading", { name: "Sessions" }).waitFor()
    expect(page.url()).toBe(`${server.url}/viewer/#/`)
    await page.reload()
    await page.getByRole("heading", { name: "Sessions" }).waitFor()
    expect(complaints).toEqual([])
  })

  it("asks for a key, says that one is wrong, and opens with one that is right", async () => {
    const { page } = await open(`${server.url}/viewer/`)
    await page.getByLabel("API key").fill("not a key")
    await page.keyboard.press("Enter")
    await page.getByRole("alert").waitFor()
    await page.getByLabel("API key").fill(apiKey)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Sessions" }).waitFor()
    await page.getByRole("button", { name: "Forget key" }).click()
    await page.getByLabel("API key").waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  })
})
