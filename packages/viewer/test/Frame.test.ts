import { HttpClient } from "@tachograph/testkit"
import type { Locator } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { open, openWithKey, useBrowser } from "./Browser.ts"
import { Conversation, registered, text, user } from "./Conversation.ts"
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

  it("gives the key to the tab of a link that is opened with Ctrl or the middle button", async () => {
    const { page } = await open(server.viewer())
    const ways: ReadonlyArray<Parameters<Locator["click"]>[0]> = [{ modifiers: ["Control"] }, { button: "middle" }]
    for (const how of ways) {
      const opened = page.context().waitForEvent("page")
      await page.getByRole("link", { name: "Agents" }).click(how)
      const other = await opened
      await other.getByRole("heading", { name: "Agents" }).waitFor()
      await other.close()
    }
    expect(page.url()).toBe(`${server.url}/viewer/#/`)
  })

  it("asks for a key, says that one is wrong, and opens with one that is right", async () => {
    const { page } = await open(`${server.url}/viewer/`)
    await page.getByLabel("API key").fill("not a key")
    await page.keyboard.press("Enter")
    await page.getByRole("alert").waitFor()
    await page.getByLabel("API key").fill(apiKey)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Sessions" }).waitFor()
    await page.getByRole("button", { name: "Project" }).click()
    await page.getByRole("button", { name: "Forget key" }).click()
    await page.getByLabel("API key").waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  })

  it("shows nothing of a project after another one's key is entered", async () => {
    const byKey = await start(undefined, ({ headers }) => {
      const [, project] = /^Bearer (red|blue)$/.exec(headers["authorization"] ?? "") ?? []
      return project === undefined ? null : { project, scopes: ["record", "read"] }
    })
    onTestFinished(() => byKey.close())
    const client = HttpClient.open(byKey.url, "red")
    await new Conversation(client, await registered(client), "a red session").call([user("Red?")], [text("Red.")])
    const { page } = await open(`${byKey.url}/viewer/#key=red`)
    await page.getByText("a red session").waitFor()
    await page.getByRole("button", { name: "Project" }).click()
    await page.getByRole("button", { name: "Forget key" }).click()
    await page.getByText("The application that serves these pages decides").waitFor()
    await page.evaluate(() => void (location.hash = "#key=blue"))
    await page.getByRole("button", { name: "Project blue" }).waitFor()
    await page.getByText("Nothing is recorded yet").waitFor()
    expect(await page.getByText("red").count()).toBe(0)
  })

  it("says that the application decides, and leads to its login and back to the same place", async () => {
    const host = await start(
      undefined,
      ({ headers }) => (headers["cookie"] === "user=ann" ? { project: "default", scopes: ["read"] } : null),
      { login: "/login" }
    )
    onTestFinished(() => host.close())
    const { complaints, page } = await open(`${host.url}/viewer/#/agents?q=a%20b`)
    await page.getByText("decides who may read them").waitFor()
    expect(await page.getByLabel("API key").count()).toBe(0)
    // The login of the host: it knows the visitor then, and sends them to the pages.
    await page.route("**/login", (route) =>
      route.fulfill({ status: 302, headers: { location: "/viewer/", "set-cookie": "user=ann; Path=/" } })
    )
    await page.getByRole("link", { name: "Log in" }).click()
    await page.getByRole("heading", { name: "Agents" }).waitFor()
    expect(page.url()).toBe(`${host.url}/viewer/#/agents?q=a%20b`)
    await page.getByRole("button", { name: "Project" }).click()
    await page.getByText("You see what your login opens.").waitFor()
    expect(await page.getByRole("button", { name: /Log out|Forget/ }).count()).toBe(0)
    await page.context().clearCookies()
    await page.getByRole("link", { name: "People" }).click()
    await page.getByText("What you may read here has ended.").waitFor()
    expect(complaints).toEqual([])
  })

  it("offers no login where the application names none, and refuses a key without a form for another", async () => {
    const host = await start(undefined, () => null)
    onTestFinished(() => host.close())
    const { page } = await open(`${host.url}/viewer/#key=none`)
    await page.getByText("Nor does it accept the key that came with the link.").waitFor()
    expect(await page.locator("main").getByRole("link").count()).toBe(0)
    expect(await page.getByRole("textbox").count()).toBe(0)
  })

  it("keeps the keys of several projects in the tab, and goes from one to another", async () => {
    const byKey = await start(undefined, ({ headers }) => {
      const [, project] = /^Bearer (red|blue)$/.exec(headers["authorization"] ?? "") ?? []
      return project === undefined ? null : { project, scopes: ["record", "read"] }
    })
    onTestFinished(() => byKey.close())
    const { page } = await open(`${byKey.url}/viewer/#key=red`)
    await page.getByRole("button", { name: "Project red" }).click()
    await page.getByLabel("Another key").fill("green")
    await page.keyboard.press("Enter")
    await page.getByRole("alert").getByText("The key opens nothing").waitFor()
    await page.getByLabel("Another key").fill("blue")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Project blue" }).click()
    await page.getByRole("button", { name: "red", exact: true }).click()
    await page.getByRole("button", { name: "Project red" }).click()
    await page.keyboard.press("Escape")
    expect(await page.getByRole("button", { name: "Forget key" }).count()).toBe(0)
  })

  it("takes a key that is pasted into the address of an open tab", async () => {
    const { page } = await open(`${server.url}/viewer/`)
    await page.getByLabel("API key").waitFor()
    await page.evaluate((key) => void (location.hash = `#key=${encodeURIComponent(key)}`), apiKey)
    await page.getByRole("heading", { name: "Sessions" }).waitFor()
    expect(page.url()).toBe(`${server.url}/viewer/#/`)
    await page.evaluate(() => void (location.hash = "#key=another"))
    await page.getByRole("alert").waitFor()
    expect(page.url()).toBe(`${server.url}/viewer/#/`)
  })

  it.each(["%", "%E0%A4", "%C2%AD"])("asks for a key where the link has %j, which is none", async (given) => {
    const { complaints, page } = await open(`${server.url}/viewer/#key=${given}`)
    await page.getByLabel("API key").waitFor()
    expect(page.url()).toBe(`${server.url}/viewer/#/`)
    expect(complaints).toEqual([])
  })

  it("says that no key has such characters, and keeps none that it cannot send", async () => {
    const { page } = await open(`${server.url}/viewer/`)
    for (const wrong of ["ключ", "a…b", "a\u200Bb"]) {
      await page.getByLabel("API key").fill(wrong)
      await page.keyboard.press("Enter")
      await page.getByText("no key has").waitFor()
      expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    }
    // Copied with the blanks and invisible characters around it.
    await page.getByLabel("API key").fill(`\u200B ${apiKey}\uFEFF`)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Sessions" }).waitFor()
  })

  it("lets another key be entered where the server does not answer", async () => {
    const { page } = await openWithKey(`${server.url}/viewer/`, apiKey)
    await page.getByRole("heading", { name: "Sessions" }).waitFor()
    await page.route("**/api/v1/me", (route) => route.abort())
    await page.reload()
    await page.getByText("The server does not answer").waitFor()
    await page.getByRole("button", { name: "Enter another key" }).click()
    await page.unroute("**/api/v1/me")
    await page.getByLabel("API key").fill(apiKey)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Sessions" }).waitFor()
  })
})
