/** With a real browser, which takes cookies with `__Host-` and `Secure` from http://127.0.0.1, because that is on this machine. */
import chromium from "@sparticuz/chromium"
import { type Browser, chromium as playwright } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { apiKey, start } from "./Served.ts"

let browser: Browser
beforeAll(async () => {
  browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
  })
})
afterAll(() => browser?.close())

it("goes from the viewer to the provider, back to the same place, and out at both", { timeout: 120_000 }, async () => {
  const { url } = await start()
  const context = await browser.newContext()
  context.setDefaultTimeout(30_000)
  const page = await context.newPage()
  const place = `${url}/viewer/#/agents?order=asc`

  const complaints: Array<string> = []
  page.on("console", (message) => {
    if (/Content.Security.Policy/i.test(message.text())) complaints.push(message.text())
  })

  // Nothing was begun.
  await page.goto(`${url}/callback`)
  await page.getByRole("heading", { name: "This sign-in has ended" }).waitFor()
  await page.goto(place)
  await page.getByRole("link", { name: "Sign in" }).click()
  await page.getByLabel("Who are you?").fill("ann")
  await page.getByRole("button", { name: "Go on" }).click()
  await page.getByRole("heading", { name: "Agents" }).waitFor()
  expect(page.url()).toBe(place)
  const cookies = await context.cookies()
  expect(cookies.find(({ name }) => name === "__Host-tachograph")).toMatchObject({
    httpOnly: true,
    secure: true,
    sameSite: "Strict",
    path: "/"
  })
  expect(cookies.map(({ name }) => name)).not.toContain("__Host-tachograph-login")
  await page.reload()
  await page.getByRole("heading", { name: "Agents" }).waitFor()

  // As if its time were over.
  await context.clearCookies({ name: "__Host-tachograph" })
  await page.getByRole("link", { name: "People" }).click()
  await page.getByText("You are no longer signed in.").waitFor()
  await page.getByRole("link", { name: "Sign in" }).click()
  // The provider still knows who it is.
  await page.getByRole("heading", { name: "People" }).waitFor()
  expect(page.url()).toBe(`${url}/viewer/#/people`)

  await page.getByRole("button", { name: "Project default" }).click()
  await page.getByText("You are signed in as ann@example.com (ann)").waitFor()
  await page.getByRole("button", { name: "Log out" }).click()
  await page.getByRole("button", { name: "Yes, sign me out" }).click()
  await page.getByRole("link", { name: "Sign in" }).waitFor()
  expect((await context.cookies()).filter(({ name }) => name.includes("tachograph"))).toEqual([])
  await page.getByText("Use an API key instead").click()
  await page.getByLabel("API key").fill(apiKey)
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "Sessions" }).waitFor()
  expect(complaints).toEqual([])
})
