/** The tree of commands. */
import { Command } from "effect/cli"
import { audit } from "./commands/Audit.ts"
import { agents } from "./commands/Agents.ts"
import { backup } from "./commands/Backup.ts"
import { calls } from "./commands/Calls.ts"
import { compare } from "./commands/Compare.ts"
import { copy } from "./commands/Copy.ts"
import { deleteCommand } from "./commands/Delete.ts"
import { diff } from "./commands/Diff.ts"
import { doctor } from "./commands/Doctor.ts"
import { exportCommand } from "./commands/Export.ts"
import { failures } from "./commands/Failures.ts"
import { importCommand } from "./commands/Import.ts"
import { keys } from "./commands/Keys.ts"
import { migrate } from "./commands/Migrate.ts"
import { people } from "./commands/People.ts"
import { reindex } from "./commands/Reindex.ts"
import { restore } from "./commands/Restore.ts"
import { search } from "./commands/Search.ts"
import { serve } from "./commands/Serve.ts"
import { sessions } from "./commands/Sessions.ts"
import { show } from "./commands/Show.ts"
import { storage } from "./commands/Storage.ts"
import { tail } from "./commands/Tail.ts"
import { usage as usageCommand } from "./commands/Usage.ts"
import { verify } from "./commands/Verify.ts"

export const tachograph = Command.make("tachograph").pipe(
  Command.withDescription("Records what AI agents do: every call to a model provider, verbatim"),
  Command.withSubcommands([
    serve,
    migrate,
    keys,
    audit,
    sessions,
    show,
    calls,
    failures,
    people,
    agents,
    search,
    usageCommand,
    compare,
    diff,
    tail,
    deleteCommand,
    storage,
    reindex,
    verify,
    doctor,
    exportCommand,
    importCommand,
    copy,
    backup,
    restore
  ])
)
