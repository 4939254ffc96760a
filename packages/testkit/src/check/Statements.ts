/** The statements that an effect sends to a database: on a network, each of them is a round trip. */
import * as Effect from "effect/Effect"
import { Statement } from "effect/sql"

export interface Sent {
  readonly text: string
  readonly parameters: ReadonlyArray<unknown>
}

/** Returns the effect's value and its statements, in order; none for a storage without statements. */
export const capture = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const statements: Array<Sent> = []
  const value = yield* Effect.provideService(effect, Statement.CurrentTransformer, (statement) =>
    Effect.sync(() => {
      const [text, parameters] = statement.compile()
      statements.push({ text, parameters })
      return statement
    })
  )
  return [value, statements] as const
})

/** Returns the effect's value and how many statements it takes. */
export const count = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(capture(effect), ([value, statements]) => [value, statements.length] as const)
