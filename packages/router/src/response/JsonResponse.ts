/** Answers a JSON text as it is, where a typed value would have to be written anew. */
import type { JsonText } from "@tachograph/core"
import { HttpServerResponse } from "effect/http"

export const make = (text: JsonText.JsonText): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, { contentType: "application/json" })

/** The same, of UTF-8 in several parts. */
export const ofBytes = (parts: ReadonlyArray<Uint8Array>): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.uint8Array(Buffer.concat(parts), { contentType: "application/json" })
