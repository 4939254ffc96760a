/** What `/login`, `/callback` and `/logout` answer. Where a sign-in leads to nothing, a page says why in plain words, and where to go on. */
import type { Errors } from "@tachograph/core"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { hash } from "node:crypto"
import type { ServerResponse } from "node:http"
import { type Options, pathOf } from "./Options.ts"
import type { ProviderUnavailable, SignInRefused } from "./Provider.ts"

interface Page {
  readonly status: number
  readonly title: string
  readonly text: string
  /** Where to go on, and what it is called. */
  readonly to: readonly [path: string, name: string]
}

/** As plain as the page of the viewer that leads here. */
const style =
  "body{max-width:26rem;margin:16vh auto;padding:0 1.25rem;font:100%/1.5 system-ui,sans-serif}h1{font-size:1.3rem}"

/** The page loads nothing, and its one style is known. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", style, "base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

const standardHeaders = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character]!)

const page = (response: ServerResponse, { status, text, title, to: [path, name] }: Page): void => {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escape(title)} · Tachograph</title>
<style>${style}</style>
<h1>${escape(title)}</h1>
<p>${escape(text)}</p>
<p><a href="${escape(path)}">${escape(name)}</a></p>
</html>
`
  response
    .writeHead(status, {
      ...standardHeaders,
      "content-type": "text/html; charset=utf-8",
      "content-length": Buffer.byteLength(html),
      "content-security-policy": contentSecurityPolicy
    })
    .end(html)
}

export const redirect = (response: ServerResponse, location: string): void =>
  void response.writeHead(302, { ...standardHeaders, location, "content-length": 0 }).end()

export const json = (
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {}
): void => {
  const body = JSON.stringify(value)
  const about = { "content-type": "application/json", "content-length": Buffer.byteLength(body) }
  response.writeHead(status, { ...standardHeaders, ...about, ...headers }).end(body)
}

export const notBegun = (response: ServerResponse, options: Options): void =>
  page(response, {
    status: 400,
    title: "This sign-in has ended",
    text: "It was not begun in this browser, or was used already, or took more than ten minutes.",
    to: [pathOf(options, "/login"), "Sign in"]
  })

export const noGroup = (response: ServerResponse, options: Options, name: string): void =>
  page(response, {
    status: 403,
    title: "You may not read here",
    text: `The identity provider knows you as ${name}, but none of your groups (its claim ${options.groupsClaim}) opens anything here. Who runs this server says which groups do.`,
    to: [`${pathOf(options, "/login")}?again`, "Sign in as somebody else"]
  })

const notNow = (response: ServerResponse, options: Options, text: string): void =>
  page(response, {
    status: 503,
    title: "Signing in does not work now",
    text: `${text} Try again in a while.`,
    to: [pathOf(options, "/login"), "Try again"]
  })

/** Neither the page nor the log holds a text of the provider: reasons are codes that are known here. */
export const failure = (
  response: ServerResponse,
  options: Options,
  error: ProviderUnavailable | SignInRefused | Errors.StorageUnavailable
): Effect.Effect<void> => {
  switch (error._tag) {
    case "ProviderUnavailable":
      notNow(response, options, "The identity provider does not answer, or not as one. API keys work as before.")
      return Effect.logWarning(`The provider ${options.issuer.origin} cannot be used to sign in: ${error.reason}`)
    case "SignInRefused":
      page(response, {
        status: 403,
        title: "You are not signed in",
        text: `The identity provider let nobody in, or its answer is not to be trusted: ${error.reason}.`,
        to: [pathOf(options, "/login"), "Sign in"]
      })
      return Effect.logWarning(`A sign-in was refused: ${error.reason}`)
    default:
      notNow(response, options, "The database of the server does not answer.")
      return Effect.logWarning("Nobody can sign in or out: the storage is unavailable", error)
  }
}

export const defect = (response: ServerResponse, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (response.headersSent) response.destroy()
  else json(response, 500, { type: "internal" })
  return Effect.logError("Signing in failed", cause)
}
