import type { Fault } from "../harness/Trial.ts"
import { clock } from "./Clock.ts"
import { cutAfterCommit } from "./CutAfterCommit.ts"
import { diskFull } from "./DiskFull.ts"
import { eio } from "./Eio.ts"
import { frozen } from "./Frozen.ts"
import { kill9 } from "./Kill9.ts"
import { nodeFrozen } from "./NodeFrozen.ts"
import { nodeKill9 } from "./NodeKill9.ts"
import { poison } from "./Poison.ts"
import { postgresKill9 } from "./PostgresKill9.ts"
import { shardMove } from "./ShardMove.ts"
import { sigterm } from "./Sigterm.ts"
import { silentReaders } from "./SilentReaders.ts"
import { threadDeaths } from "./ThreadDeaths.ts"

export const faults: ReadonlyArray<Fault> = [
  kill9,
  postgresKill9,
  nodeKill9,
  nodeFrozen,
  shardMove,
  eio,
  diskFull,
  cutAfterCommit,
  frozen,
  silentReaders,
  sigterm,
  threadDeaths,
  poison,
  clock
]
