import * as Effect from "effect/Effect"
import { SignInWay } from "../Engine.ts"
import * as Operation from "./Operation.ts"

export const operations = Effect.map(SignInWay, (way) =>
  Operation.group("signIn", { getSignIn: () => Effect.succeed(way) })
)
