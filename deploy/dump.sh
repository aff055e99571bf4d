#!/bin/sh
# dump.sh FOLDER: dump the database of DATABASE_URL into the folder, and delete the dumps there that are older than two weeks.
set -eu
cd "$1"
# The feed tells running processes of changes; nobody reads old entries.
pg_dump --format custom --exclude-table-data audit_feedentry --file new "$DATABASE_URL"
mv new "idcsched-$(date +%F).dump"
find . -name 'idcsched-*.dump' -mtime +13 -delete
