/** The description of the contract, `/openapi.json`, and the page that shows it, `/docs`. */
import { TachographApi } from "@tachograph/api"
import { Lazy } from "@tachograph/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { BasePath } from "../BasePath.ts"
import { pagePaths, ServesViewer } from "../Engine.ts"
import type { Operation } from "../handlers/Operation.ts"
import * as Answer from "../response/Answer.ts"
import * as LazyPages from "./LazyPages.ts"

/** Where the pages of the documentation are, relative to the one that shows the contract. */
const documentation = "viewer/#/docs"

/** Renders the page, which weighs megabytes: only when it is first asked for. */
const renderDocs = (api: typeof TachographApi) =>
  Effect.gen(function* () {
    const scalar = HttpApiScalar.layer(api, { path: pagePaths.docs, scalar: { withDefaultFonts: false } })
    const page = yield* Effect.flatten(HttpRouter.toHttpEffect(scalar)).pipe(
      Effect.provideService(
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(new Request(`http://localhost${pagePaths.docs}`))
      )
    )
    const html = yield* Effect.promise(() => HttpServerResponse.toWeb(page).text())
    return Answer.shared(Answer.text(html, "text/html; charset=utf-8"))
  }).pipe(Effect.scoped)

export const operations = Effect.gen(function* () {
  const base = yield* BasePath
  const api = base === "" ? TachographApi : TachographApi.annotate(OpenApi.Servers, [{ url: base }])
  const openapi = yield* Effect.cached(
    Effect.sync(() => Answer.shared(Answer.json(JSON.stringify(OpenApi.fromApi(api)))))
  )
  const shown = (yield* ServesViewer)
    ? api.annotate(
        OpenApi.Description,
        `${Context.getUnsafe(api.annotations, OpenApi.Description)} How to use it is in [the documentation](${documentation}).`
      )
    : api
  const docs = LazyPages.orOverloaded(yield* Lazy.make(renderDocs(shown)))
  return { openapi: () => openapi, docs: () => docs } satisfies Record<keyof typeof pagePaths, Operation>
})
