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
/** Of pages without options: they share a process, which has compiled the scripts for the first of them. */
let shared: BrowserContext
/** Keeps the process. */
let kept: Page
/** Pages that stay open from test to test: their tests say when they end. */
const lasting = new Set<Page>()

/** Starts the browser for the tests of a file. */
export const useBrowser = (): void => {
  beforeAll(async () => {
    browser = await playwright.launch({
      executablePath: await chromium.executablePath(),
      // Not the package's own: they switch parts of the browser's security off.
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--process-per-site"]
    })
    shared = await contextOf({})
    kept = await shared.newPage()
    await kept.route("**", (route) => route.fulfill({ contentType: "text/html", body: "" }))
    // The host of all servers of tests. A process has all ports of a host.
    await kept.goto("http://127.0.0.1/")
  })
  afterAll(() => browser?.close())
}

export const viewport = { width: 1280, height: 800 }

const contextOf = async (options: BrowserContextOptions) => {
  const context = await browser.newContext({ viewport, ...options })
  // What has not appeared by then does not appear.
  context.setDefaultTimeout(30_000)
  return context
}

/** What must stay empty while a page is used. */
export interface Watched {
  readonly page: Page
  /** URLs of requests to another origin than the page's. */
  readonly foreign: ReadonlyArray<string>
  /** Errors and warnings of the console, such as those of the Content Security Policy, and exceptions. */
  readonly complaints: ReadonlyArray<string>
}

/** When a page is closed. */
export type AtEnd = (close: () => Promise<void>) => void

/** Opens a page, which is closed when the test ends. */
export const open = (url: string, options: BrowserContextOptions = {}): Promise<Watched> => openWith(url, options)

/** The same, as a person whose tab has the key already: one page is loaded, and not two. */
export const openWithKey = (
  url: string,
  key: string,
  options: BrowserContextOptions = {},
  atEnd: AtEnd = onTestFinished
): Promise<Watched> =>
  openWith(url, options, atEnd, (page) =>
    page.addInitScript((key) => sessionStorage.setItem("tachograph.key", key), key)
  )

/** Closes a page, and all that tests have opened. The next one finds nothing of what they have stored. */
const close = async (page: Page, origin: string) => {
  const context = page.context()
  if (context !== shared) return context.close()
  lasting.delete(page)
  await Promise.all(context.pages().map((each) => (each === kept || lasting.has(each) ? undefined : each.close())))
  const session = await context.newCDPSession(kept)
  await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" })
  await session.detach()
}

const openWith = async (
  url: string,
  options: BrowserContextOptions,
  atEnd: AtEnd = onTestFinished,
  prepare: (page: Page) => Promise<unknown> = async () => {}
): Promise<Watched> => {
  const context = Object.keys(options).length === 0 ? shared : await contextOf(options)
  const page = await context.newPage()
  const { origin } = new URL(url)
  if (atEnd !== onTestFinished) lasting.add(page)
  atEnd(() => close(page, origin))
  await prepare(page)
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

/** Changes what the page shows, as a link does: nothing is loaded anew. Afterwards the page has drawn what it knows already. */
export const goTo = (page: Page, place: string): Promise<void> =>
  page.evaluate(
    (place) =>
      new Promise<void>((resolve) => {
        if (location.hash === place) return resolve()
        addEventListener("hashchange", () => requestAnimationFrame(() => requestAnimationFrame(() => resolve())), {
          once: true
        })
        location.hash = place
      }),
    place
  )
