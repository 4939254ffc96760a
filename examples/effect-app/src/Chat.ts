/** The application's own routes. `POST /chat` calls a model and records the request and the response. */
import { SessionId } from "@tachograph/core"
import { Config, Effect, Layer, Redacted, Schema } from "effect"
import { HttpBody, HttpClient, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { record } from "./Recording.ts"

const Question = Schema.Struct({ session: SessionId, question: Schema.String })

const chat = Effect.gen(function* () {
  const url = yield* Config.String("OPENAI_BASE_URL").pipe(Config.withDefault("https://api.openai.com/v1"))
  const key = yield* Config.Redacted("OPENAI_API_KEY")
  return Effect.gen(function* () {
    const { question, session } = yield* HttpServerRequest.schemaBodyJson(Question)
    const request = JSON.stringify({ model: "gpt-5-mini", input: question })
    const response = yield* HttpClient.post(`${url}/responses`, {
      headers: { authorization: `Bearer ${Redacted.value(key)}` },
      body: HttpBody.text(request, "application/json")
    })
    const text = yield* response.text
    // A failed recording is logged; it does not fail the request.
    yield* record({ session, request, response: text }).pipe(
      Effect.ignoreCause({ log: "Error", message: "A call was not recorded" })
    )
    return HttpServerResponse.text(text, { status: response.status, contentType: "application/json" })
  })
})

export const layer = Layer.merge(
  HttpRouter.add("GET", "/", HttpServerResponse.text("Hello from Effect\n")),
  HttpRouter.use((router) => Effect.flatMap(chat, (handler) => router.add("POST", "/chat", handler)))
)
