/** A person with a browser, as requests: it keeps cookies, also those that a browser would have dropped. */
import { expect } from "vitest"

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  /** Where a redirect leads. */
  readonly location: string | undefined
}

export class Visitor {
  readonly cookies: Map<string, string>
  readonly #server: string

  constructor(server: string, cookies: Iterable<readonly [string, string]> = []) {
    this.#server = server
    this.cookies = new Map(cookies)
  }

  /** One request, below the server's address if it is a path. */
  async ask(url: string, init: RequestInit = {}): Promise<Answer> {
    const headers = new Headers(init.headers)
    headers.set("cookie", Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join("; "))
    const absolute = new URL(url, this.#server)
    const response = await fetch(absolute, { ...init, headers, redirect: "manual" })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      if (/; Max-Age=0$|expires=Thu, 01 Jan 1970/i.test(cookie)) this.cookies.delete(name!)
      else this.cookies.set(name!, value!)
    }
    const to = response.headers.get("location")
    const location = to === null ? undefined : new URL(to, absolute).href
    return { status: response.status, text: await response.text(), headers: response.headers, location }
  }

  /** Goes to the provider and says who one is there. The address that it leads back to, which nobody has asked yet. */
  async comeBackAs(login: string, path = "/login"): Promise<string> {
    let answer = await this.ask(path)
    for (let step = 0; step < 10; step++) {
      const [, action] = /action="([^"]+)"/.exec(answer.text) ?? []
      if (answer.location?.startsWith(`${this.#server}/callback?`) === true) return answer.location
      if (action === undefined) answer = await this.ask(answer.location!)
      else {
        const page = new URL(action, this.#provider!).href
        const hidden = answer.text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)
        const body = new URLSearchParams({ login })
        for (const [, name, value] of hidden) body.append(name!, value!)
        answer = await this.ask(page, { method: "POST", body })
      }
      if (answer.location !== undefined) this.#provider = new URL(answer.location).origin
    }
    throw new Error(`The provider leads nowhere: ${answer.status} ${answer.text}`)
  }

  #provider: string | undefined

  async signIn(login: string): Promise<void> {
    const answer = await this.ask(await this.comeBackAs(login))
    expect([answer.status, answer.location]).toEqual([302, `${this.#server}/viewer/`])
  }

  /** What a page of the viewer asks. */
  async api(method: string, path: string, headers: Record<string, string> = { "sec-fetch-site": "same-origin" }) {
    const { status, text } = await this.ask(`/api/v1${path}`, { method, headers })
    return { status, body: text === "" ? undefined : JSON.parse(text) }
  }
}
