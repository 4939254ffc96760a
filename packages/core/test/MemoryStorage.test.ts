import { StorageSuite } from "@tachograph/testkit"
import * as MemoryStorage from "../src/MemoryStorage.ts"

StorageSuite.run("memory", () => MemoryStorage.layer)
