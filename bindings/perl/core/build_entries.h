/* Entries of hashes during a build.
 *
 * perl's interface looks a key up before it stores a value. The functions here know the shared
 * key already, so they link a new entry into its bucket as perl does. */
#ifndef ICECORE_BUILD_ENTRIES_H
#define ICECORE_BUILD_ENTRIES_H
#include "core/build.h"

#if PERL_VERSION_GE(5, 30, 0) && !PERL_VERSION_GE(5, 41, 0) && !defined(PURIFY) && !defined(PERL_POISON)             \
    && !defined(DEBUGGING) && !defined(DEBUG_LEAKING_SCALARS)
#  define IB_DIRECT_ENTRIES 1
/* Perl's list of free hash entries. */
#  define IB_FREE_ENTRIES PL_body_roots[SVt_NULL]
#else
#  define IB_DIRECT_ENTRIES 0
#endif

/* True if a hash that was filled directly equals one that perl filled. This is tested once,
 * when the module is loaded. */
extern bool ib_direct_entries;

/* The store functions take over the caller's reference to the value. */
void ib_replace_value(pTHX_ ice_context *ctx, SV **slot, SV *value);
void ib_store_by_sv(pTHX_ ice_context *ctx, HV *hv, SV *key, SV *value);
void ib_store_by_node(pTHX_ ib_builder *b, HV *hv, U32 key_node, SV *value);
void ib_store_placeholder(pTHX_ HV *hv, const char *text, STRLEN len, bool is_utf8);

/* Stores a value under a shared key that has no special flags. Does nothing and returns false if
 * this is only possible through perl's interface. That is so if the list of free entries is
 * empty, if the hash has keys with flags, or if perl would add buckets first.
 *
 * perl stores each shared key once, so equal keys have equal addresses. */
PERL_STATIC_INLINE bool
ib_store_direct(pTHX_ ice_context *ctx, HV *hv, HEK *hek, SV *value)
{
#if IB_DIRECT_ENTRIES
    HE **bucket, *entry = (HE *)IB_FREE_ENTRIES;
    const size_t max = HvMAX(hv);
    if (UNLIKELY(!ib_direct_entries || !HvARRAY(hv) || !entry || HvHASKFLAGS(hv) || HvTOTALKEYS(hv) > max))
        return FALSE;
    bucket = &HvARRAY(hv)[HEK_HASH(hek) & (U32)max];
    if (*bucket) {
        HE *other;
        for (other = *bucket; other; other = HeNEXT(other))
            if (HeKEY_hek(other) == hek) {
                if (HeVAL(other) == &PL_sv_placeholder)
                    return FALSE;
                ib_replace_value(aTHX_ ctx, &HeVAL(other), value);
                return TRUE;
            }
    }
    /* The first free entry becomes the first entry of the bucket. share_hek_hek counts the
     * reference of this entry to the key. */
    IB_FREE_ENTRIES = (void *)HeNEXT(entry);
    HeKEY_hek(entry) = share_hek_hek(hek);
    HeVAL(entry) = value;
    HeNEXT(entry) = *bucket;
    *bucket = entry;
    HvTOTALKEYS(hv)++;
    if (HEK_FLAGS(hek))
        HvHASKFLAGS_on(hv);
    return TRUE;
#else
    PERL_UNUSED_CONTEXT;
    PERL_UNUSED_VAR(ctx);
    PERL_UNUSED_VAR(hv);
    PERL_UNUSED_VAR(hek);
    PERL_UNUSED_VAR(value);
    return FALSE;
#endif
}

/* Stores a value under a key. If the key exists, the value replaces the old one. */
PERL_STATIC_INLINE void
ib_store_entry(pTHX_ ice_context *ctx, HV *hv, SV *key, SV *value)
{
    HEK *hek;
    if (UNLIKELY(!SvIsCOW_shared_hash(key))) {
        ib_store_by_sv(aTHX_ ctx, hv, key, value);
        return;
    }
    hek = SvSHARED_HEK_FROM_PV(SvPVX_const(key));
    if ((HEK_FLAGS(hek) & ~HVhek_UTF8) == 0 && ib_store_direct(aTHX_ ctx, hv, hek, value))
        return;
    ib_replace_value(aTHX_ ctx,
                     (SV **)hv_common(hv, key, NULL, 0, 0, HV_FETCH_LVALUE | HV_FETCH_JUST_SV, NULL, HEK_HASH(hek)),
                     value);
}

/* Returns a hash with room for `count` entries, but for at most 0x1000000, because the count comes
 * from the document. perl adds more buckets when they are needed. A new hash has 8 buckets. The
 * array of buckets is allocated here, because ib_store_direct needs it. */
PERL_STATIC_INLINE HV *
ib_new_hash(pTHX_ U32 count)
{
    HV *hv = newHV();
    if (count > 8)
        hv_ksplit(hv, count > 0x1000000 ? 0x1000000 : count);
#if IB_DIRECT_ENTRIES
    if (count && !HvARRAY(hv)) {
        char *array;
        Newxz(array, PERL_HV_ARRAY_ALLOC_BYTES(HvMAX(hv) + 1), char);
        HvARRAY(hv) = (HE **)array;
    }
#endif
    return hv;
}

#endif
