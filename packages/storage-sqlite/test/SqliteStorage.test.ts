import { StorageSuite } from "@tachograph/testkit"
import { sqlite } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

StorageSuite.run("SQLite", () => sqlite(temporaryFile()))
