/** Each kind of damage to a row, and what a verification says of it. */
import { eventDamages } from "./EventDamages.ts"
import { nameDamages } from "./NameDamages.ts"
import type { RowDamage } from "./RowDamage.ts"
import { sessionDamages } from "./SessionDamages.ts"
import { sharedPieceDamages } from "./SharedPieceDamages.ts"

export const damages: ReadonlyArray<RowDamage> = [
  ...eventDamages,
  ...sessionDamages,
  ...sharedPieceDamages,
  ...nameDamages
]
