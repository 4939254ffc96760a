/** One person for many tests, who goes from place to place: most of what a test costs is loading the pages. */
import type { BrowserContextOptions, ViewportSize } from "playwright-core"
import { afterAll, expect, onTestFinished } from "vitest"
import { goTo, openWithKey, viewport, type Watched } from "./Browser.ts"
import { apiKey, type Server } from "./Server.ts"

export class Visitor {
  readonly #server: () => Server
  readonly #allowed: string | undefined
  readonly #options: BrowserContextOptions
  #watched: Watched | undefined
  #close = async () => {}

  /** For the tests of a file, or of a part of it. Complaints with the text `allowed` are none. */
  constructor(server: () => Server, allowed?: string, options: BrowserContextOptions = {}) {
    this.#server = server
    this.#allowed = allowed
    this.#options = options
    afterAll(() => this.#leave())
  }

  async #leave(): Promise<void> {
    this.#watched = undefined
    await this.#close()
    this.#close = async () => {}
  }

  /**
   * Goes to a place, in the page that the test before has used, unless that failed. Whatever a test does, the page complains of nothing and
   * asks no other server. Afterwards the page shows nothing that a test could find.
   */
  async visit(place: string, size: ViewportSize = viewport): Promise<Watched> {
    const watched = (this.#watched ??= await openWithKey(
      `${this.#server().url}/viewer/#/nothing`,
      apiKey,
      this.#options,
      (close) => void (this.#close = close)
    ))
    const { complaints, foreign, page } = watched
    onTestFinished(async ({ task }) => {
      const seen = [...complaints, ...foreign].filter(
        (each) => this.#allowed === undefined || !each.includes(this.#allowed)
      )
      if (task.result?.state !== "pass" || seen.length > 0) await this.#leave()
      else {
        await goTo(page, "#/nothing")
        await page.setViewportSize(viewport)
      }
      expect(seen).toEqual([])
    })
    await page.setViewportSize(size)
    await goTo(page, place)
    return watched
  }
}
