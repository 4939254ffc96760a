/** A headless browser that looks at the viewer, and notes when things appear and what is moved. */
import chromium from "@sparticuz/chromium"
import { type Browser, chromium as playwright, type Page } from "playwright-core"
import { setTimeout as sleep } from "node:timers/promises"
import * as Recording from "../harness/Recording.ts"

export type { Browser, Page } from "playwright-core"

const [apiKey = ""] = Recording.apiKeys

export const launch = async (): Promise<Browser> =>
  playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
  })

/** After such a pause (ms), everything that a page shows at first was moved. */
const quietMs = 1_000

export interface Opened {
  readonly page: Page
  /** From the beginning of the navigation until an element of the selector was painted (ms). */
  readonly shownAfterMs: number
  /** Bytes of all answers as they were moved, after a pause in which nothing was asked for. */
  readonly movedBytes: () => Promise<number>
  readonly close: () => Promise<void>
}

/** Runs in the page, whose types this package does not have. The second frame begins when the first was painted. */
const markWhenShown = (selector: string) => `
  const observer = new MutationObserver(() => {
    if (document.querySelector(${JSON.stringify(selector)}) === null) return
    observer.disconnect()
    const shown = () => (document.documentElement.dataset.shownAfterMs = performance.now())
    requestAnimationFrame(() => requestAnimationFrame(shown))
  })
  observer.observe(document, { childList: true, subtree: true })`

const noteFrames = `
  globalThis.noted = []
  const note = (time) => {
    noted.push(time)
    requestAnimationFrame(note)
  }
  requestAnimationFrame(note)`

/** Opens a place in a window of its own, with nothing in its cache. */
export const open = async (browser: Browser, url: string, place: string, selector: string): Promise<Opened> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addInitScript(`sessionStorage.setItem("tachograph.key", ${JSON.stringify(apiKey)})`)
  await context.addInitScript(markWhenShown(selector))
  const page = await context.newPage()
  const network = await context.newCDPSession(page)
  await network.send("Network.enable")
  let bytes = 0
  let movedAt = performance.now()
  network.on("Network.dataReceived", () => void (movedAt = performance.now()))
  network.on("Network.loadingFinished", ({ encodedDataLength }) => void (bytes += encodedDataLength))
  await page.goto(`${url}/viewer/${place}`)
  const root = page.locator("html[data-shown-after-ms]")
  return {
    page,
    shownAfterMs: Number(await root.getAttribute("data-shown-after-ms", { timeout: 60_000 })),
    movedBytes: async () => {
      // The page may follow a stream, which never ends.
      while (performance.now() < movedAt + quietMs) await sleep(quietMs / 5)
      return bytes
    },
    close: () => context.close()
  }
}

/** The times between frames (ms) while the element is scrolled by a wheel. */
export const framesWhileScrolling = async (page: Page, selector: string, seconds: number): Promise<Array<number>> => {
  await page.locator(selector).hover()
  await page.evaluate(`{${noteFrames}}`)
  const endAt = performance.now() + 1_000 * seconds
  while (performance.now() < endAt) await page.mouse.wheel(0, 400)
  const times = await page.evaluate<Array<number>>("noted")
  return times.slice(1).map((time, index) => time - times[index]!)
}
