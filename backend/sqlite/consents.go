// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"net/url"
	"time"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
)

// Consents keeps the answers of a person for later runs.
func (d *DB) Consents() permit.Memory { return &consents{d} }

type consents struct{ db *DB }

// Recall implements permit.Memory: the oldest answer first. A damaged one is a
// failure, because it may have been a no.
func (c *consents) Recall(ctx context.Context) ([]permit.Remembered, error) {
	var all []permit.Remembered
	err := c.db.read(ctx, func(pool *sql.DB) (err error) {
		var bad []string
		all, bad, err = recall(ctx, pool)
		if err == nil && len(bad) > 0 {
			f := fault.New(fault.Internal, "", "a remembered permission in the library %s is damaged (it reads %q)", c.db.path, bad[0])
			f.Advice = "Remove it with dipper rules remove, in exactly this spelling, and answer again."
			return f
		}
		return err
	})
	return all, err
}

// recall reads all answers, the damaged ones apart.
func recall(ctx context.Context, pool *sql.DB) (all []permit.Remembered, bad []string, err error) {
	rows, err := pool.QueryContext(ctx, "SELECT kind, rule, at, seal FROM consents ORDER BY at, rule")
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var kind, rule string
		var at int64
		var seal []byte
		if err := rows.Scan(&kind, &rule, &at, &seal); err != nil {
			return nil, nil, err
		}
		if !bytes.Equal(seal, consentSeal(kind, rule, at)) {
			bad = append(bad, rule)
			continue
		}
		all = append(all, permit.Remembered{Kind: permit.Decision(kind), Rule: rule, At: fromMicro(at)})
	}
	return all, bad, rows.Err()
}

func consentSeal(kind, rule string, at int64) []byte {
	h := sha256.New()
	sealField(h, []byte(kind))
	sealField(h, []byte(rule))
	sealField(h, binary.LittleEndian.AppendUint64(nil, uint64(at)))
	return h.Sum(nil)
}

// Remember implements permit.Memory. A later answer to the same rule replaces
// the earlier one. Unlike a page it is flushed to the device before it is
// acknowledged.
func (c *consents) Remember(ctx context.Context, r permit.Remembered) error {
	err := c.db.write(ctx, func(tx *sql.Tx) error { return insertConsent(ctx, tx, r) })
	if err != nil {
		return err
	}
	return c.db.checkpoint(ctx, "PASSIVE")
}

func insertConsent(ctx context.Context, tx *sql.Tx, r permit.Remembered) error {
	at := r.At.UnixMicro()
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO consents (kind, rule, at, seal) VALUES (?, ?, ?, ?)",
		string(r.Kind), r.Rule, at, consentSeal(string(r.Kind), r.Rule, at))
	return err
}

// Forget implements permit.Memory and says whether there was such a rule.
func (c *consents) Forget(ctx context.Context, rule string) (bool, error) {
	var n int64
	err := c.db.write(ctx, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, "DELETE FROM consents WHERE rule = ?", rule)
		if err != nil {
			return err
		}
		n, err = r.RowsAffected()
		return err
	})
	if err != nil {
		return false, err
	}
	return n > 0, c.db.checkpoint(ctx, "PASSIVE")
}

// Answers reads what a person answered from the library at path, which Open could
// not open: a lock may hang, or damage elsewhere may not be mended. It is all of it
// or an error, because any one may have been a no.
func Answers(ctx context.Context, path string) ([]permit.Remembered, error) {
	pool, err := readOnlyPool(ctx, path)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	all, bad, err := recall(ctx, pool)
	if err == nil && len(bad) > 0 {
		err = errDamaged
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// salvagePatience bounds the look into a damaged file.
const salvagePatience = 5 * time.Second

// salvage carries whole answers over from a file that was set aside, and says
// how many. Any that could not be read are an error.
func (d *DB) salvage(ctx context.Context, from string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, salvagePatience)
	defer cancel()
	old, err := openPool(source(from, url.Values{"mode": {"rw"}}))
	if err != nil {
		return 0, err
	}
	defer old.Close()
	all, bad, err := recall(ctx, old)
	if err == nil && len(bad) > 0 {
		err = errDamaged
	}
	if len(all) == 0 {
		return 0, err
	}
	failed := transact(ctx, d.pool, func(tx *sql.Tx) error {
		for _, r := range all {
			if err := insertConsent(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if failed != nil {
		return 0, failed
	}
	return len(all), err
}
