/** The contract as Effect's typed client uses it. */
import { Authorization, TachographApi } from "@tachograph/api"
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { expect, it } from "vitest"
import { apiKey, event, fingerprint, opened } from "./Samples.ts"

it("pages with the cursors that it gets", async () => {
  const tachograph = await opened()
  const id = await tachograph.fingerprint(fingerprint)
  const sent: Array<string> = []
  for (let n = 0; n < 3; n++) sent.push((await tachograph.record(event(id))).event_id)

  const authorization = HttpApiMiddleware.layerClient(Authorization, ({ next, request }) =>
    next(HttpClientRequest.bearerToken(request, apiKey))
  )
  const read = Effect.gen(function* () {
    const { events } = yield* HttpApiClient.make(TachographApi, { baseUrl: "http://localhost" })
    const ids: Array<string> = []
    let cursor: string | null = null
    do {
      const page: Effect.Success<ReturnType<typeof events.listEvents>> = yield* events.listEvents({
        query: { limit: 2, ...(cursor === null ? {} : { cursor }) }
      })
      ids.push(...page.events.map(({ id }) => id))
      cursor = page.next_cursor
    } while (cursor !== null)
    return ids
  })
  const fetch: typeof globalThis.fetch = (input, init) => tachograph.fetch(new Request(input, init))
  const client = Layer.merge(FetchHttpClient.layer, authorization).pipe(
    Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch))
  )
  expect(await Effect.runPromise(Effect.provide(read, client))).toEqual(sent)
})
