import { VerifySuite } from "@tachograph/testkit"
import { emptyStorage } from "./EmptySchema.ts"

VerifySuite.run("Postgres", emptyStorage, { isThorough: false })
