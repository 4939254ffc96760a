/** API keys as values that can be cloned. */
import { ApiKey } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const codec = Schema.toCodecJson(ApiKey)

export const encode = (key: ApiKey): Effect.Effect<unknown> => Effect.orDie(Schema.encodeEffect(codec)(key))

export const decode = (value: unknown): Effect.Effect<ApiKey> => Effect.orDie(Schema.decodeUnknownEffect(codec)(value))
