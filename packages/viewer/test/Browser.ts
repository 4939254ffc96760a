/** One headless Chromium for the tests of a file, and pages that remember everything they should not have done. */
import chromium from "@sparticuz/chromium"
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as playwright,
  type Page
} from "playwright-core"
import { afterAll, beforeAll, onTestFinished } from "vitest"

let browser: Browser

/** Starts the browser for the tests of a file. */
export const useBrowser = (): void => {
  beforeAll(async () => {
    browser = await playwright.launch({
      executablePath: await chromium.executablePath(),
      // Not the package's own: they switch parts of the browser's security off.
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    })
  })
  afterAll(() => browser?.close())
}

/** What must stay empty while a page is used. */
export interface Watched {
  readonly page: Page
  /** URLs of requests to another origin than the page's. */
  readonly foreign: ReadonlyArray<string>
  /** Errors and warnings of the console, such as those of the Content Security Policy, and exceptions. */
  readonly complaints: ReadonlyArray<string>
}

/** Opens a page in a context of its own, which is closed when the test ends. */
export const open = (url: string, options: BrowserContextOptions = {}): Promise<Watched> => openWith(url, options)

/** The same, as a person whose tab has the key already: one page is loaded, and not two. */
export const openWithKey = (url: string, key: string, options: BrowserContextOptions = {}): Promise<Watched> =>
  openWith(url, options, (context) =>
    context.addInitScript((key) => sessionStorage.setItem("tachograph.key", key), key)
  )

const openWith = async (
  url: string,
  options: BrowserContextOptions,
  prepare: (context: BrowserContext) => Promise<unknown> = async () => {}
): Promise<Watched> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  await prepare(context)
  onTestFinished(() => context.close())
  // What has not appeared by then does not appear.
  context.setDefaultTimeout(30_000)
  const page = await context.newPage()
  const { origin } = new URL(url)
  const foreign: Array<string> = []
  const complaints: Array<string> = []
  page.on("request", (request) => {
    const { origin: asked, protocol } = new URL(request.url())
    if (asked !== origin && protocol !== "data:" && protocol !== "blob:") foreign.push(request.url())
  })
  page.on("console", (message) => {
    // An answer 401 is what asks for a key.
    if (["error", "warning"].includes(message.type()) && !/status of 40[134]/.test(message.text())) {
      complaints.push(message.text())
    }
  })
  page.on("pageerror", (error) => complaints.push(String(error)))
  await page.goto(url)
  return { page, foreign, complaints }
}
